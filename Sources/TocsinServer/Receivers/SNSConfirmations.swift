import Synchronization
import TocsinCore
import TocsinReceivers

/// Confirms subscriptions to topics of Amazon SNS that an integration lists.
///
/// No address is called that a sender names as a whole: host and parameters are checked against
/// the topic's ARN, and the call is made anew of them.
final class SNSConfirmations: Sendable {
    private let http: any OutgoingHTTP
    /// Where the calls go in place of Amazon's.
    private let endpoint: String?
    private let underWay = Mutex(0)

    private static let mostAtOnce = 8
    /// Amazon waits 15 seconds for the answer to its post, but a request takes five at most
    /// (`TOCSIN_EXECUTION_SECONDS`), in which the message is made as well.
    private static let timeoutSeconds = 3.0
    private static let maximumAnswerBytes = 64 << 10

    init(http: any OutgoingHTTP, endpoint: String?) {
        self.http = http
        self.endpoint = endpoint.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }

    /// Confirms a subscription; answers nil once that is done, or why it is not, with what to do.
    func confirm(_ subscription: SNSSubscription, listed: [String]) async -> String? {
        let arn = subscription.topicARN
        guard SNSTopic(arn) != nil else {
            return "a subscription was not confirmed: its TopicArn is no ARN of a topic of Amazon SNS"
        }
        guard listed.contains(arn) else {
            return
                "the subscription to \(arn) was not confirmed: add the ARN to snsTopics and let Amazon ask again, or "
                + "open the message's link"
        }
        guard let confirmation = subscription.confirmation else {
            return "the subscription to \(arn) was not confirmed: its SubscribeURL is none of the topic's region that "
                + "confirms it; do not open it"
        }
        guard begin() else {
            return "the subscription to \(arn) was not confirmed: too many are at once; let Amazon ask again"
        }
        defer { underWay.withLock { $0 -= 1 } }
        var request = OutgoingRequest(
            url: (endpoint ?? confirmation.origin) + confirmation.target,
            timeoutSeconds: Self.timeoutSeconds,
            maximumBodyBytes: Self.maximumAnswerBytes
        )
        if endpoint == nil { request.addresses = .publicOnly }
        let reason: String
        switch await http.send(request) {
        case .response(200, _, _): return nil
        case .response(let status, _, _): reason = "Amazon answered \(status)"
        case .failed(let words): reason = words
        }
        return
            "the subscription to \(arn) was not confirmed: \(reason); let Amazon ask again, or open the message's link"
    }

    private func begin() -> Bool {
        underWay.withLock { count in
            guard count < Self.mostAtOnce else { return false }
            count += 1
            return true
        }
    }
}
