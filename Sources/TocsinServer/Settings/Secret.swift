/// Text that must not be seen: its description and mirror show nothing of it.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, to be handed to what needs it and to nothing else.
    package let contents: String

    package init(_ contents: String) {
        self.contents = contents
    }

    /// Always the same.
    package var description: String { Secret.mask }
    /// Always the same.
    package var debugDescription: String { Secret.mask }
    /// Empty.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// What stands in the place of a secret wherever settings are shown.
    package static let mask = "(secret)"
}
