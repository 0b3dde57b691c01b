package import TocsinCore

/// Where senders put their key, and how it is kept out of logs.
package enum SenderKeys {
    /// A key that a request carries.
    package struct Key: Sendable, Equatable {
        /// The key, or in a header `Authorization` a token of a user.
        package var text: String
        /// Whether it stands in `Authorization`: only there a user's token may.
        package var isAuthorization: Bool
    }

    /// What a request carries.
    package enum Finding: Sendable, Equatable {
        /// No key.
        case none
        /// One key, in one place or the same in several.
        case key(Key)
        /// Keys that differ: refused as an unknown one is.
        case differing
    }

    /// The key of a request to a receiver of this kind.
    package static func find(in request: ReceiverRequest, kind: Integration.Kind) -> Finding { .none }

    /// The path and query of a request as a log may show them, keys as `***`.
    package static func masked(_ target: String) -> String { target }
}
