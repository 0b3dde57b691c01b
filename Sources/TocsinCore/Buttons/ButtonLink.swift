/// What a link to a button says: one button of one message, and by whom it is pressed.
package struct ButtonLink: Sendable, Hashable {
    /// The message.
    package var messageID: MessageID
    /// The button's id in the message.
    package var buttonID: String
    /// Who presses it.
    package var userID: UserID

    /// A link of these parts.
    package init(_ buttonID: String, of message: MessageID, by user: UserID) {
        (messageID, self.buttonID, userID) = (message, buttonID, user)
    }
}

// As text: three lines, the user last, for it alone may hold anything.
extension ButtonLink {
    private static let scope = "button-link"

    /// The sealed text; nil where it would be too long.
    package func token(_ sealer: any Sealer) -> String? {
        let text = [messageID.text, buttonID, userID.text].joined(separator: "\n")
        let token = sealer.seal(Array(text.utf8), scope: Self.scope)
        return token.utf8.count <= IncidentLink.maximumTokenBytes ? token : nil
    }

    /// The link that a token was sealed from; nil for any other text.
    package init?(token: String, _ sealer: any Sealer) {
        guard token.utf8.count <= IncidentLink.maximumTokenBytes, let bytes = sealer.open(token, scope: Self.scope)
        else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 3 else { return nil }
        self.init(lines[1], of: MessageID(lines[0]), by: UserID(lines[2]))
    }
}

extension IncidentLinks {
    /// A link by which a person presses a button of a message; nil where it would be too long.
    package func url(ofButton id: String, of message: MessageID, by user: UserID) -> String? {
        url(ofToken: ButtonLink(id, of: message, by: user).token(sealer))
    }
}
