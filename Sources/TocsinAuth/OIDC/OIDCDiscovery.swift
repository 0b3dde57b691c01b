import Metrics
package import TocsinCore

/// Keeps what a provider says of itself: read at the start and every hour, and again after 1, 2,
/// 4 … 60 s while it cannot be had.
package actor OIDCDiscovery {
    /// What is known of a provider.
    package enum State: Sendable {
        /// Not asked yet.
        case unread
        /// Its last answer was good.
        case known
        /// Its last answer was none, or not to be believed.
        case away(OIDCRefusal)
    }

    private struct Known {
        let metadata: ProviderMetadata
        let keys: RemoteKeySet
        let readAt: Timestamp
    }

    private static let timeoutSeconds = 5.0
    private static let hourSeconds = 3600.0
    /// So long a document is used while no newer one can be had.
    private static let longestUseSeconds = 86_400.0
    private static let longestPauseSeconds = 60.0

    private let issuer: String
    private let http: any OutgoingHTTP
    private let time: any TimeSource
    private let fetchGauge: Gauge?
    private var known: Known?
    private var failures = 0
    private var look: Task<Void, Never>?
    /// What is known now.
    package private(set) var state = State.unread
    /// When the provider is to be asked again.
    package private(set) var nextLook: Timestamp

    init(issuer: String, http: any OutgoingHTTP, time: any TimeSource, metrics: AuthMetrics? = nil) {
        fetchGauge = metrics?.makeKeySetGauge()
        (self.issuer, self.http, self.time) = (issuer, http, time)
        nextLook = time.now()
    }

    /// Asks the provider whenever it is due, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            await lookIfDue()
            do { try await time.sleep(until: nextLook) } catch { return }
        }
    }

    /// Asks the provider if that is due; callers at the same time wait for one answer.
    package func lookIfDue() async {
        if let look { return await look.value }
        guard time.now() >= nextLook else { return }
        // No child of the caller, whose cancellation must not fail those who wait with it.
        let started = Task { await self.read() }
        look = started
        await started.value
    }

    /// What the provider said last, and its keys; throws when nothing is known that may be used.
    func current() async throws(OIDCRefusal) -> (metadata: ProviderMetadata, keys: RemoteKeySet) {
        if usable == nil { await lookIfDue() }
        if let usable { return (usable.metadata, usable.keys) }
        if case .away(let refusal) = state { throw refusal }
        throw OIDCRefusal(.providerAway, "The provider \(issuer) was not asked yet.")
    }

    /// A key for bearer tokens of the provider; nil when its set has none with this id.
    func key(id: String?) async throws(TokenProblem) -> PublicKey? {
        let keys: RemoteKeySet
        do throws(OIDCRefusal) {
            keys = try await current().keys
        } catch {
            throw .unavailable(reason: error.description)
        }
        return try await keys.key(id: id)
    }

    private var usable: Known? {
        guard let known, time.now() < known.readAt.adding(seconds: Self.longestUseSeconds) else { return nil }
        return known
    }

    private func read() async {
        defer { look = nil }
        do throws(OIDCRefusal) {
            let metadata = try ProviderMetadata(json: await document(), issuer: issuer)
            let keys = known.flatMap { $0.metadata.keySetAddress == metadata.keySetAddress ? $0.keys : nil }
            known = Known(
                metadata: metadata,
                keys: keys
                    ?? RemoteKeySet(
                        url: metadata.keySetAddress.text,
                        http: http,
                        time: time,
                        fetchGauge: fetchGauge
                    ),
                readAt: time.now()
            )
            (state, failures) = (.known, 0)
            nextLook = time.now().adding(seconds: Self.hourSeconds)
        } catch {
            state = .away(error)
            failures += 1
            let pause = min(Double(1 << min(failures - 1, 6)), Self.longestPauseSeconds)
            nextLook = time.now().adding(seconds: pause)
        }
    }

    private func document() async throws(OIDCRefusal) -> [UInt8] {
        // OpenID Connect Discovery §4.1: a slash at the issuer's end goes.
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let request = OutgoingRequest(
            url: base + "/.well-known/openid-configuration",
            headers: [("accept", "application/json")],
            timeoutSeconds: Self.timeoutSeconds,
            maximumBodyBytes: ProviderMetadata.maximumBytes
        )
        switch await http.send(request) {
        case .response(200, _, let body): return body
        case .response(let status, _, _):
            throw OIDCRefusal(
                .providerAway,
                "The discovery document of \(issuer) was answered with \(OIDCRefusal.shown(status: status))."
            )
        case .failed(let reason):
            throw OIDCRefusal(.providerAway, "The discovery document of \(issuer) cannot be had: \(reason).")
        }
    }
}
