/// An identifier that cannot be mistaken for another kind of identifier;
/// opaque text, never normalised.
package struct Identifier<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The identifier's text, compared by bytes as the database does.
    package let text: String

    /// An identifier of any text; the services check those that clients choose.
    package init(_ text: String) {
        self.text = text
    }

    /// The text itself.
    package var description: String { text }

    /// Orders identifiers by the text.
    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// Marks identifiers of topics.
package enum TopicKind {}
/// Marks identifiers of messages.
package enum MessageKind {}
/// Marks identifiers of devices.
package enum DeviceKind {}
/// Marks identifiers of users.
package enum UserKind {}
/// Marks identifiers of deliveries.
package enum DeliveryKind {}
/// Marks identifiers of tokens and API keys.
package enum TokenKind {}
/// Marks identifiers of groups.
package enum GroupKind {}

/// Names a topic; up to 64 characters when a client chose it.
package typealias TopicID = Identifier<TopicKind>
/// Names a message; unique over all topics of the server.
package typealias MessageID = Identifier<MessageKind>
/// Names a device, or a member without one in the ledger of deliveries.
package typealias DeviceID = Identifier<DeviceKind>
/// The subject of a token (`sub`): whose devices and memberships these are.
package typealias UserID = Identifier<UserKind>
/// Names a delivery: a lower-case UUID, which the provider sees.
package typealias DeliveryID = Identifier<DeliveryKind>
/// Names a token (its `jti`) or an API key.
package typealias TokenID = Identifier<TokenKind>
/// Names a local group, whatever it is called.
package typealias GroupID = Identifier<GroupKind>

/// Number of a message in its topic: dense from 1, in order of commit.
package typealias MessageNumber = Int64

/// Position of a message among all of its owner's, whatever their topics: rising
/// from 1, in order of commit.
package typealias FeedPosition = Int64

/// Identifiers and jitter.
package protocol IdentifierSource: Sendable {
    /// A UUID version 7 in lower case, greater than those made before (RFC 9562 §5.7).
    func makeID() -> String
    /// A number in 0..<1 for jitter.
    func randomUnit() -> Double
}
