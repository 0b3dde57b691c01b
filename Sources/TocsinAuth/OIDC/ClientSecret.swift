/// The secret that this server shares with a provider; it never shows what it holds.
package struct ClientSecret: Sendable, CustomStringConvertible, CustomReflectable {
    let contents: String

    /// The secret as the provider gave it.
    package init(_ contents: String) {
        self.contents = contents
    }

    /// Shows nothing.
    package var description: String { "ClientSecret(redacted)" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
