import JSON

/// A topic of Amazon SNS, as its ARN names it.
package struct SNSTopic: Sendable, Hashable {
    /// The ARN.
    package let arn: String
    /// The host that confirms subscriptions to it.
    let host: String

    private static let maximumBytes = 400

    /// Reads `arn:aws:sns:REGION:ACCOUNT:NAME`; nil: it is no such ARN.
    package init?(_ arn: String) {
        let parts = arn.split(separator: ":", omittingEmptySubsequences: false)
        guard arn.utf8.count <= Self.maximumBytes, parts.count == 6, parts[0] == "arn", parts[2] == "sns",
            let suffix = Self.suffixes[String(parts[1])],
            Self.isWord(parts[3], besides: "-"), parts[3].utf8.count <= 40, !parts[3].hasPrefix("-"),
            !parts[3].hasSuffix("-"), parts[3] == parts[3].lowercased()[...],
            parts[4].utf8.count == 12, parts[4].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            Self.isWord(parts[5], besides: "-_.")
        else { return nil }
        (self.arn, host) = (arn, "sns.\(parts[3]).\(suffix)")
    }

    /// The domain of each of Amazon's partitions that has SNS for everybody.
    private static let suffixes = [
        "aws": "amazonaws.com", "aws-us-gov": "amazonaws.com", "aws-cn": "amazonaws.com.cn",
    ]

    private static func isWord(_ text: Substring, besides others: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || others.utf8.contains(byte)
            }
    }
}

/// What Amazon SNS posts before a subscription counts: whoever asks for the address that it names
/// confirms it.
package struct SNSSubscription: Sendable, Hashable {
    /// The shipped receiver that takes it.
    package static let receiver = "aws-sns"

    /// The ARN as it was posted, which may be none.
    package let topicARN: String
    private let subscribeURL: String

    private static let maximumURLBytes = 2048
    private static let maximumShownBytes = 400

    /// The confirmation that a request asks for; nil: it asks for none.
    package init?(_ request: ReceiverRequest) {
        guard case .success(let body) = LenientJSON.object(request.body),
            body["Type"]?.stringValue == "SubscriptionConfirmation"
        else { return nil }
        let arn = body["TopicArn"]?.stringValue ?? ""
        topicARN = String(decoding: arn.utf8.prefix(Self.maximumShownBytes), as: UTF8.self)
        subscribeURL = body["SubscribeURL"]?.stringValue ?? ""
    }

    /// What of the address is to be asked for, made anew of the parts that were checked.
    package struct Confirmation: Sendable, Hashable {
        /// `https://sns.REGION.amazonaws.com`, of the ARN's own region.
        package let origin: String
        /// The path with the query.
        package let target: String
    }

    /// How the subscription is confirmed; nil where the address is not one of the topic's own
    /// region that confirms a subscription to this topic.
    package var confirmation: Confirmation? {
        guard let topic = SNSTopic(topicARN), subscribeURL.utf8.count <= Self.maximumURLBytes else { return nil }
        let start = "https://\(topic.host)/?"
        guard subscribeURL.hasPrefix(start), !subscribeURL.contains("#") else { return nil }
        let items = QueryText.items(subscribeURL.dropFirst(start.count).utf8)
        func only(_ name: String) -> String? {
            let found = items.filter { $0.name == name }
            return found.count == 1 ? found[0].value : nil
        }
        guard only("Action") == "ConfirmSubscription", only("TopicArn") == topic.arn,
            let token = only("Token"), !token.isEmpty,
            token.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
            })
        else { return nil }
        // An ARN has nothing that a query must escape but its colons.
        let arn = topic.arn.replacing(":", with: "%3A")
        let target = "/?Action=ConfirmSubscription&TopicArn=\(arn)&Token=\(token)"
        return Confirmation(origin: "https://\(topic.host)", target: target)
    }
}
