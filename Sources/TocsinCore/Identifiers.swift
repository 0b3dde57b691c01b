/// An identifier that cannot be mistaken for another kind of identifier; opaque text, never normalised.
package struct Identifier<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { text }

    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

package enum TopicKind {}
package enum MessageKind {}
package enum DeviceKind {}
package enum UserKind {}
package enum DeliveryKind {}
package enum TokenKind {}

package typealias TopicID = Identifier<TopicKind>
package typealias MessageID = Identifier<MessageKind>
package typealias DeviceID = Identifier<DeviceKind>
/// The subject of a token (`sub`): whose devices and memberships these are.
package typealias UserID = Identifier<UserKind>
package typealias DeliveryID = Identifier<DeliveryKind>
package typealias TokenID = Identifier<TokenKind>

/// Place of a message in its topic: dense from 1, in order of commit.
package typealias MessageNumber = Int64

/// Place of a message among all of its owner's, whatever their topics: rising from 1, in order of commit.
package typealias FeedPosition = Int64
