import Metrics
import TocsinCore

/// Counters by status and reason, for pairs that are known; what is not counts as `other`.
final class PairCounters: Sendable {
    private struct Pair: Hashable {
        var status: String
        var reason: String
    }

    private let all: [(labels: String, counter: Counter)]
    private let ofPair: [Pair: Counter]

    /// Counters of these reasons of each status, of which each has `other` as well.
    init(_ table: [(status: String, reasons: [String])]) {
        var all: [(labels: String, counter: Counter)] = []
        var ofPair: [Pair: Counter] = [:]
        for (status, reasons) in table {
            for reason in reasons {
                let counter = Counter()
                all.append((metricLabel("status", status) + "," + metricLabel("reason", reason), counter))
                ofPair[Pair(status: status, reason: reason)] = counter
            }
        }
        (self.all, self.ofPair) = (all, ofPair)
    }

    /// The counter of a pair, or of what is next to it.
    func counter(_ status: String, _ reason: some StringProtocol) -> Counter {
        ofPair[Pair(status: status, reason: String(reason))] ?? ofPair[Pair(status: status, reason: "other")]
            ?? ofPair[Pair(status: "other", reason: "other")] ?? Counter()
    }

    /// A sample of each, in the order of the table.
    var samples: [MetricSample] { all.map { MetricSample(labels: $0.labels, .integer($0.counter.value)) } }
}

/// The answers that are counted apart: the words of `APNsAnswers` and `FCMAnswers`, under the
/// statuses that their providers send them with.
///
/// Browsers' push services and webhooks are named by clients and operators, so words of theirs are
/// never taken.
enum PushAnswerTable {
    private static let refusals = ["400", "401", "403", "404", "405", "410", "413", "429"]
    private static let faults = ["500", "502", "503", "504"]

    /// The reasons of each status.
    static func pairs(of provider: PushMetrics.Provider) -> [(status: String, reasons: [String])] {
        let known: [String: [String]] =
            switch provider {
            case .apns: ofApple
            case .fcm: ofGoogle
            case .webpush, .webhook: [:]
            }
        let answers = (refusals + faults + ["other"]).map { status in
            (status: status, reasons: known[status, default: []] + ["other"])
        }
        let troubles: [DeliveryReason] = [.noAnswer, .notProcessed, .unreachable]
        let silence = provider == .webhook ? ["other"] : troubles.map(\.rawValue)
        return [(status: "200", reasons: ["none"])] + answers + [(status: "none", reasons: silence)]
    }

    /// The status of an answer as it is counted.
    static func status(of answer: PushAnswer) -> String {
        guard case .response(let response) = answer else { return "none" }
        return status(response.status)
    }

    /// The same of a number; nil: there was no answer.
    static func status(_ number: Int?) -> String {
        guard let number else { return "none" }
        if (200..<300).contains(number) { return "200" }
        let text = "\(number)"
        return refusals.contains(text) || faults.contains(text) ? text : "other"
    }

    private static let ofApple: [String: [String]] = [
        "400": words([
            .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
        ]),
        "403": words([
            .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
            .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
        ]),
        "404": words([.badPath]),
        "405": words([.methodNotAllowed]),
        "410": words([.expiredToken, .unregisteredAtApple]),
        "413": words([.payloadTooLargeForApple]),
        "429": words([.tooManyProviderTokenUpdates, .tooManyRequests]),
        "500": words([.internalServerError]),
        "503": words([.serviceUnavailable, .shutdown]),
    ]

    private static let ofGoogle: [String: [String]] = [
        "400": words([.invalidArgument]),
        "401": words([.thirdPartyAuthError]) + ["UNAUTHENTICATED"],
        "403": words([.senderIDMismatch]) + ["PERMISSION_DENIED"],
        "404": words([.unregistered]) + ["NOT_FOUND"],
        "429": words([.quotaExceeded]) + ["RESOURCE_EXHAUSTED"],
        "500": words([.internalError]),
        "503": words([.unavailable]),
    ]

    private static func words(_ reasons: [DeliveryReason]) -> [String] { reasons.map(\.rawValue) }
}

/// The final states that are counted apart, by words of the ledger.
enum DeliveryTable {
    /// The reasons of each status.
    static func pairs(of provider: PushMetrics.Provider) -> [(status: String, reasons: [String])] {
        guard provider != .webhook else {
            return [(accepted, ["none"]), (DeliveryStatus.failed.rawValue, ["other"])]
        }
        return [
            (accepted, ["none"]),
            (DeliveryStatus.failed.rawValue, words([.payloadTooLarge, .noAnswer])),
            (
                DeliveryStatus.ended.rawValue,
                words([
                    .unregistered, .unregisteredAtApple, .badDeviceToken, .tokenMoved, .leftTopic, .accessEnded,
                    .messageDeleted, .topicDeleted,
                ])
            ),
            (DeliveryStatus.expired.rawValue, ["none", "other"]),
            (
                DeliveryStatus.skipped.rawValue,
                words([
                    .providerNotConfigured, .appNotConfigured, .notificationsOff, .topicMuted, .feedOnly, .inDigest,
                    .belowPriority, .deviceStale,
                ])
            ),
        ]
    }

    private static let accepted = DeliveryStatus.accepted.rawValue

    private static func words(_ reasons: [DeliveryReason]) -> [String] { reasons.map(\.rawValue) + ["other"] }
}
