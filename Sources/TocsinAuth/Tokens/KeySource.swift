package import Metrics
package import TocsinCore

/// Where the keys come from that check a sign-in provider's tokens.
package enum KeySource: Sendable {
    /// A shared secret: HS256 only.
    case secret(HMACKey)
    /// A set read once, from a file.
    case fixed(KeySet)
    /// A set at an https address, fetched when needed.
    case remote(RemoteKeySet)
    /// The set that a provider names when it says of itself what it is.
    case discovered(OIDCDiscovery)
}

/// A key set at an https address.
///
/// It is fetched for the first token, again for an unknown key id or once it is an hour old, by one
/// call at a time and at most once in 60 s. While a fetch fails the last good set stays.
package actor RemoteKeySet {
    private static let minimumPauseSeconds = 60.0
    /// While there is no set at all nothing can be verified, so it is tried sooner.
    private static let firstPauseSeconds = 5.0
    private static let maximumAgeSeconds = 3600.0
    /// Callers without a key wait this long at most.
    private static let timeoutSeconds = 5.0

    private let url: String
    private let http: any OutgoingHTTP
    private let time: any TimeSource
    /// Told when the set was fetched, in Unix milliseconds.
    private let fetchGauge: Gauge?
    private var set: KeySet?
    private var fetchedAt: Timestamp?
    private var triedAt: Timestamp?
    private var lastProblem = "it was not fetched yet"
    private var fetch: Task<Void, Never>?

    /// Does not fetch yet.
    ///
    /// `url` must be an https address; settings have checked it.
    package init(url: String, http: any OutgoingHTTP, time: any TimeSource, fetchGauge: Gauge? = nil) {
        self.fetchGauge = fetchGauge
        self.url = url
        self.http = http
        self.time = time
    }

    /// The key with this id; nil when the set has none, even after the fetch that is allowed now.
    func key(id: String?) async throws(TokenProblem) -> PublicKey? {
        if let found = set?.key(id: id) {
            // A key at hand does not wait for the network; a withdrawn one is
            // unknown once the fetch is done.
            if isOld { _ = startFetch() }
            return found
        }
        await startFetch()?.value
        guard let set else { throw .unavailable(reason: "The key set at \(url) cannot be had: \(lastProblem).") }
        return set.key(id: id)
    }

    private var isOld: Bool {
        guard let fetchedAt else { return true }
        return time.now() >= fetchedAt.adding(seconds: Self.maximumAgeSeconds)
    }

    /// The fetch under way, a new one if the pause is over, or nil.
    ///
    /// It is no child of the caller, whose cancellation must not fail those who wait with it.
    private func startFetch() -> Task<Void, Never>? {
        if let fetch { return fetch }
        let now = time.now()
        let pause = set == nil ? Self.firstPauseSeconds : Self.minimumPauseSeconds
        if let triedAt, now < triedAt.adding(seconds: pause) { return nil }
        triedAt = now
        let started = Task { await self.load() }
        fetch = started
        return started
    }

    private func load() async {
        defer { fetch = nil }
        let request = OutgoingRequest(
            url: url,
            headers: [("accept", "application/json")],
            timeoutSeconds: Self.timeoutSeconds,
            maximumBodyBytes: KeySet.maximumBytes
        )
        switch await http.send(request) {
        case .response(200, _, let body):
            do throws(KeyError) {
                set = try KeySet(json: body)
                let now = time.now()
                fetchedAt = now
                fetchGauge?.set(Int(now.milliseconds))
            } catch {
                lastProblem = error.description
            }
        case .response(let status, _, _): lastProblem = "the answer was status \(status)"
        case .failed(let reason): lastProblem = reason
        }
    }
}
