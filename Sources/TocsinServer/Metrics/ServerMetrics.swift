import GraphQLTransport
import Metrics
import Synchronization
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinStore

/// What this server is, and whether it takes requests.
final class ServerMetrics: MetricSource {
    private let node: String
    private let database: any SQLDatabase
    private let health: Health
    private let time: any TimeSource
    /// What `/readyz` would have said at the last look.
    private let wasReady = Atomic(false)
    private static let pauseSeconds = 5.0

    init(_ process: ProcessPart, health: Health) {
        node = process.settings.server.nodeName
        database = process.data.database
        (self.health, time) = (health, process.time)
    }

    /// Looks every few seconds whether the server is ready, until it is cancelled.
    func run() async {
        while !Task.isCancelled {
            let report = await health.ready()
            wasReady.store(report.status == .ok, ordering: .relaxed)
            try? await time.sleep(until: time.now().adding(seconds: Self.pauseSeconds))
        }
    }

    var families: [MetricFamily] {
        let isReady = wasReady.load(ordering: .relaxed) && !health.isStopping && database.trouble == nil
        let version = database.version
        let build = [
            ("version", BuildInfo.version), ("commit", BuildInfo.commit), ("swift", Self.swift),
            ("database", version.hasPrefix("SQLite") ? "sqlite" : "postgres"), ("database_version", version),
        ]
        return [
            info("tocsin_build_info", "What runs, and on what", build),
            info("tocsin_node_info", "The node's name", [("node", node)]),
            .gauge("tocsin_ready", "Whether the server takes requests, as /readyz says", isReady ? 1 : 0),
            .gauge("tocsin_draining", "Whether the server is stopping", health.isStopping ? 1 : 0),
        ]
    }

    private func info(_ name: String, _ help: String, _ labels: [(String, String)]) -> MetricFamily {
        let text = labels.map { metricLabel($0, $1) }.joined(separator: ",")
        return MetricFamily(.gauge, name, help, [MetricSample(labels: text, .integer(1))])
    }

    #if compiler(>=6.4)
    private static let swift = "6.4"
    #else
    private static let swift = "6.3"
    #endif
}

/// Certificates, which end.
struct CertificateMetrics: MetricSource {
    let end: @Sendable () -> Int?

    var families: [MetricFamily] {
        [
            .gauge(
                "tocsin_tls_certificate_expiry_timestamp_seconds",
                "When the first certificate of the chain that new connections are shown ends",
                end()
            )
        ]
    }
}
