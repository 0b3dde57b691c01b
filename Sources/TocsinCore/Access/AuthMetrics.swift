package import Metrics
import Synchronization

/// How often people and programs showed who they are, and what came of it.
package final class AuthMetrics: MetricSource {
    /// What was shown.
    package enum Method: String, MetricLabel {
        /// The label's name.
        package static let labelName = "method"
        /// `token`: one of the server's own; `jwt`: a sign-in provider's.
        case token, jwt, key, session, password
    }

    /// What came of it.
    package enum Outcome: String, MetricLabel {
        /// The label's name.
        package static let labelName = "result"
        /// `away`: it could not be checked; `limited`: it was not, after too many tries.
        case ok, bad, expired, revoked, away, limited
    }

    /// Whom a rate held up.
    package enum LimitedKind: String, MetricLabel {
        /// The label's name.
        package static let labelName = "kind"
        /// `owner`: one whose requests came too often; `token`: an integration's or a monitor's key
        /// with too many posts; `network`: one with too many failed sign-ins or wrong keys.
        case owner, token, network
    }

    /// Requests that came too often.
    package let limited = CounterSet<LimitedKind>()
    private let results = CounterSet<LabelPair<Method, Outcome>>()
    private let times = Histogram(bounds: Histogram.fast)
    private let keySets = Mutex<[Gauge]>([])
    private let time: any TimeSource

    /// Nothing has been checked yet.
    package init(time: any TimeSource) { self.time = time }

    /// Counts a check, which took this long.
    package func note(_ method: Method, _ outcome: Outcome, took duration: Duration) {
        results[LabelPair(method, outcome)].add()
        times.record(duration)
    }

    /// A gauge for the time of one more key set's last fetch, in Unix milliseconds.
    package func makeKeySetGauge() -> Gauge {
        let gauge = Gauge()
        keySets.withLock { $0.append(gauge) }
        return gauge
    }

    /// Checks and their results, and how old the keys of sign-in providers are.
    package var families: [MetricFamily] {
        let fetched = keySets.withLock { $0.map(\.value) }.filter { $0 > 0 }.min()
        return [
            .counter(
                "tocsin_auth_total",
                "Checks of tokens, keys, sessions and passwords; one checked a moment ago is believed without",
                results
            ),
            .histogram("tocsin_auth_duration_seconds", "Time that such checks took", times),
            .counter(
                "tocsin_rate_limited_total",
                "Requests, posts and sign-ins refused because they came too often",
                limited
            ),
            .gauge(
                "tocsin_jwks_age_seconds",
                "Time since the oldest key set of a sign-in provider was fetched",
                fetched.map { max(0, Double(time.now().milliseconds - Int64($0)) / 1000) }
            ),
        ]
    }
}
