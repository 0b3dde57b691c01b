package import Metrics
import Synchronization
import TocsinCore

/// Counts pushes and webhooks' events: attempts, answers, outcomes, pauses and credentials.
package final class PushMetrics: MetricSource {
    /// Who is told of messages outside.
    package enum Provider: String, MetricLabel {
        /// The label's name.
        package static let labelName = "provider"
        case apns, fcm, webpush, webhook
    }

    /// How credentials were renewed.
    enum Refresh: String, MetricLabel {
        static let labelName = "result"
        case ok, failed
    }

    private let apns = ProviderMetrics(.apns)
    private let fcm = ProviderMetrics(.fcm)
    private let webPush = ProviderMetrics(.webpush)
    /// What webhooks count by.
    package let webhooks = ProviderMetrics(.webhook)
    let pauses = CounterSet<LabelPair<PushService, PauseCause>>()

    /// Counts of 0.
    package init() {}

    /// What pushes through a service count by.
    package subscript(service: PushService) -> ProviderMetrics {
        switch service {
        case .apns: apns
        case .fcm: fcm
        case .webPush: webPush
        }
    }

    /// The figures of now.
    package var families: [MetricFamily] {
        let all = [apns, fcm, webPush, webhooks]
        return [
            MetricFamily(
                .histogram,
                "tocsin_push_commit_to_accept_seconds",
                "From a message's commit until its provider accepted it, at whichever attempt",
                all.flatMap(\.commitToAccept)
            ),
            MetricFamily(
                .histogram,
                "tocsin_push_attempt_duration_seconds",
                "Attempts, from handing a request over to its answer",
                all.flatMap(\.attempts)
            ),
            MetricFamily(
                .counter,
                "tocsin_push_answers_total",
                "Answers of providers, by status and the reason they give",
                all.flatMap(\.answers)
            ),
            MetricFamily(
                .counter,
                "tocsin_deliveries_total",
                "Deliveries that reached their final state on this node",
                all.flatMap(\.deliveries)
            ),
            .counter("tocsin_push_pauses_total", "Pauses of a lane, told again each minute while it lasts", pauses),
            .gauge(
                "tocsin_push_credential_age_seconds",
                "Age of the token that was made last; absent before the first",
                by: PushService.self
            ) { self[$0].credential.ageSeconds.map { .number($0) } },
            MetricFamily(
                .counter,
                "tocsin_push_credential_refresh_total",
                "Tokens that were made or fetched",
                PushService.allCases.flatMap { self[$0].credential.samples($0) }
            ),
        ]
    }
}

extension PushService: MetricLabel {
    /// The label's name.
    package static let labelName = "provider"
}

/// Why a lane is paused.
package enum PauseCause: String, MetricLabel {
    /// The label's name.
    package static let labelName = "cause"
    case credentials, overload, unreachable
}

/// What pushes through one provider count by; whoever sends them holds it.
package final class ProviderMetrics: Sendable {
    private enum Priority: String, MetricLabel {
        static let labelName = "priority"
        case normal, urgent
    }

    /// What an attempt led to.
    enum Attempt: String, MetricLabel {
        static let labelName = "result"
        case accepted, retry, refused, ended
        /// There was no answer.
        case broken
    }

    private let provider: PushMetrics.Provider
    private let waits = HistogramSet<Priority>(bounds: Histogram.push)
    private let durations = HistogramSet<Attempt>(bounds: Histogram.fast)
    private let ofAnswers: PairCounters
    private let ofDeliveries: PairCounters
    // Of pushes that were accepted, which are nearly all.
    private let normal: Histogram
    private let urgent: Histogram
    private let accepted: Histogram
    private let acceptances: Counter
    /// The tokens by which the provider knows the server.
    let credential = CredentialMetrics()

    init(_ provider: PushMetrics.Provider) {
        self.provider = provider
        (normal, urgent) = (waits[.normal], waits[.urgent])
        accepted = durations[.accepted]
        ofAnswers = PairCounters(PushAnswerTable.pairs(of: provider))
        ofDeliveries = PairCounters(DeliveryTable.pairs(of: provider))
        acceptances = ofAnswers.counter("200", "none")
    }

    /// An attempt that was handed over at `start` has its answer, and what that leads to.
    func note(_ answer: PushAnswer, _ decision: AnswerDecision, since start: ContinuousClock.Instant) {
        let duration = ContinuousClock.now - start
        if case .settled(.accepted) = decision {
            accepted.record(duration)
            acceptances.add()
            return
        }
        durations[Attempt(answer, decision)].record(duration)
        ofAnswers.counter(PushAnswerTable.status(of: answer), decision.reason.metricWord).add()
    }

    /// The provider has accepted a message of this time.
    func noteAcceptance(of made: Timestamp, at now: Timestamp, isUrgent: Bool) {
        let seconds = Double(now.milliseconds - made.milliseconds) / 1000
        (isUrgent ? urgent : normal).record(seconds: seconds)
    }

    /// Deliveries have reached a final state.
    func note(_ status: DeliveryStatus, _ reason: DeliveryReason?) {
        ofDeliveries.counter(status.rawValue, reason.metricWord).add()
    }

    /// A webhook has answered an attempt, or has not.
    func note(status: Int?, _ attempt: Attempt, since start: ContinuousClock.Instant) {
        durations[attempt].record(.now - start)
        let text = PushAnswerTable.status(status)
        ofAnswers.counter(text, attempt == .accepted ? "none" : "other").add()
    }

    fileprivate var commitToAccept: [MetricSample] { labelled(waits.samples) }
    fileprivate var attempts: [MetricSample] { labelled(durations.samples) }
    fileprivate var answers: [MetricSample] { labelled(ofAnswers.samples) }
    fileprivate var deliveries: [MetricSample] { labelled(ofDeliveries.samples) }

    private func labelled(_ samples: [MetricSample]) -> [MetricSample] {
        samples.map { MetricSample(labels: "\(provider.labels),\($0.labels)", $0.value) }
    }
}

extension ProviderMetrics.Attempt {
    fileprivate init(_ answer: PushAnswer, _ decision: AnswerDecision) {
        guard case .response = answer else {
            self = .broken
            return
        }
        switch decision {
        case .again: self = .retry
        case .settled(let result):
            switch result {
            case .accepted: self = .accepted
            case .retry: self = .retry
            case .retire: self = .ended
            case .refused, .pause, .skipped: self = .refused
            }
        }
    }
}

extension AnswerDecision {
    /// Why the push was not accepted, where it was not.
    fileprivate var reason: DeliveryReason? {
        let result =
            switch self {
            case .settled(let result): result
            case .again(_, let otherwise): otherwise
            }
        return switch result {
        case .accepted: nil
        case .retry(let retry): retry.reason
        case .retire(let reason, _): reason
        case .refused(let reason), .pause(let reason), .skipped(let reason): reason
        }
    }
}

extension DeliveryReason? {
    /// The first word, behind which there may be more.
    fileprivate var metricWord: Substring {
        guard let text = self?.rawValue else { return "none" }
        return text.prefix { $0 != ":" && $0 != " " }
    }
}

/// When the tokens of one provider were made, and how often that failed.
final class CredentialMetrics: Sendable {
    private let counts = CounterSet<PushMetrics.Refresh>()
    private let madeAt = Mutex<ContinuousClock.Instant?>(nil)

    /// A token was made or fetched.
    func noteMade() {
        counts[.ok].add()
        madeAt.withLock { $0 = .now }
    }

    /// No token could be made or fetched.
    func noteFailure() { counts[.failed].add() }

    fileprivate var ageSeconds: Double? { madeAt.withLock { $0 }.map { ($0.duration(to: .now)) / .seconds(1) } }

    fileprivate func samples(_ service: PushService) -> [MetricSample] {
        counts.samples.map { MetricSample(labels: "\(service.labels),\($0.labels)", $0.value) }
    }
}
