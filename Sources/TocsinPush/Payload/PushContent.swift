package import TocsinCore

/// What the server knows, beside the message, of how pushes look.
package struct PushContent: Sendable {
    /// Categories by their id; a message may name others, which only its app knows.
    package var categories: [String: NotificationCategory]
    /// Shown in place of an encrypted message, which the app alone can read.
    package var placeholderTitle = "New message"
    /// The text beneath `placeholderTitle`.
    package var placeholderBody = "Open the app to read it."
    /// The cursor of a message, as clients get it from the API; nil: pushes carry none.
    package var cursor: (@Sendable (Record) -> String?)?

    /// What the server adds to pushes; by default nothing.
    package init(
        categories: [NotificationCategory] = [],
        cursor: (@Sendable (Record) -> String?)? = nil
    ) {
        self.categories = Dictionary(categories.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.cursor = cursor
    }
}
