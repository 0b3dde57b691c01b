import Logging
import Metrics
import Synchronization
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinStore

/// Work that one node does for all.
enum Duty: String, MetricLabel {
    static let labelName = "duty"
    case upkeep, timers
}

/// What is counted, and how it is told to those who scrape.
///
/// Parts count for themselves and add what they count as a source. It is read when somebody
/// scrapes.
final class MetricsPart: Sendable {
    /// nil where nothing is measured, as are the others.
    let store: StoreMetrics?
    let http: HTTPMetrics?
    let auth: AuthMetrics?
    /// What only the database knows.
    let refresh: MetricsRefresh?
    let jobs = JobMetrics()
    let loopLag = LoopLag()
    let duties = GaugeSet<Duty>()
    private let time: any TimeSource
    private let isOn: Bool
    private let sources = Mutex<[any MetricSource]>([])

    init(_ settings: Settings, time: any TimeSource) {
        isOn = settings.server.measures
        self.time = time
        store = isOn ? StoreMetrics() : nil
        http = isOn ? HTTPMetrics() : nil
        auth = isOn ? AuthMetrics(time: time) : nil
        refresh = isOn ? MetricsRefresh(time: time) : nil
        guard isOn else { return }
        add(ProcessMetrics(startedAt: time.now()))
        for source in [http, auth, jobs, loopLag, refresh] as [(any MetricSource)?] { add(source) }
    }

    /// Has this told from now on, behind what was added before.
    func add(_ source: (any MetricSource)?) {
        guard isOn, let source else { return }
        sources.withLock { $0.append(source) }
    }

    /// The path on the port that everybody reaches; none where nothing is measured.
    func routes(for service: TocsinGraphQL) -> [HTTPRoute] {
        isOn ? [MetricsRoute(metrics: self, service: service).route] : []
    }

    /// What charts show, once it is run; nil where nothing is measured.
    func makeSeries() -> SeriesRing? {
        isOn ? SeriesRing(time: time) { [self] in families } : nil
    }

    /// Everything, as it is now.
    var families: [MetricFamily] {
        let duties = MetricFamily.gauge("tocsin_duty", "Whether this node does this work for all", duties)
        return sources.withLock(\.self).flatMap(\.families) + [duties]
    }

    /// What is answered to somebody who takes these media types and codings.
    func exposition(accept: String?, acceptEncoding: String?) -> (contentType: String, encoding: String?, body: [UInt8])
    {
        let format = MetricFormat(accept: accept)
        let body = format.write(families)
        guard Accepted.accepts("gzip", in: acceptEncoding), let packed = Gzip.packed(body, .often) else {
            return (format.contentType, nil, body)
        }
        return (format.contentType, "gzip", packed)
    }
}

extension MetricFormat {
    /// OpenMetrics where it is asked for by name, else the text format, which everybody reads.
    init(accept: String?) {
        let names = Accepted.elements(of: accept).filter { $0.quality > 0 && $0.name == "application/openmetrics-text" }
        let isKnown = names.contains { element in
            ["1.0.0", "0.0.1"].contains(element.parameters["version"] ?? "1.0.0")
        }
        self = isKnown ? .openMetrics : .text
    }
}

/// A header field that says what its sender takes (RFC 9110 §12.4).
enum Accepted {
    struct Element {
        var name: String
        var parameters: [String: String]
        var quality: Double
    }

    static func elements(of field: String?) -> [Element] {
        (field ?? "").prefix(4096).split(separator: ",").map { part in
            let pieces = part.split(separator: ";").map {
                $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.lowercased()
            }
            var parameters: [String: String] = [:]
            for piece in pieces.dropFirst() {
                let pair = piece.split(separator: "=", maxSplits: 1).map(String.init)
                if pair.count == 2 { parameters[pair[0]] = pair[1] }
            }
            return Element(
                name: pieces.first ?? "",
                parameters: parameters,
                quality: parameters["q"].map { Double($0) ?? 0 } ?? 1
            )
        }
    }

    static func accepts(_ coding: String, in field: String?) -> Bool {
        elements(of: field).contains { $0.name == coding && $0.quality > 0 }
    }
}
