/// A person's press of a button whose call the server makes.
package struct ButtonPress: Sendable, Hashable {
    /// The message.
    package var messageID: MessageID
    /// The button's id in the message.
    package var buttonID: String
    /// Who has pressed it.
    package var userID: UserID
    /// When they have.
    package var at: Timestamp
    /// What came of the call; nil: it is under way, or nobody knows.
    package var outcome: Outcome?

    /// What came of a call.
    package enum Outcome: Sendable, Hashable {
        /// The HTTP status of the answer.
        case answered(Int)
        /// Why there was no answer, in a sentence's part without addresses.
        case failed(String)

        /// Whether the call has done what it was for.
        package var isDone: Bool { if case .answered(200..<300) = self { true } else { false } }
    }

    /// A press whose call begins.
    package init(_ buttonID: String, of message: MessageID, by user: UserID, at moment: Timestamp) {
        (messageID, self.buttonID, userID, at) = (message, buttonID, user, moment)
    }
}

/// What a read may ask about buttons that were pressed.
package protocol ButtonReading {
    /// The last press of a button by a person; a write has it to itself.
    func buttonPress(_ button: String, of message: MessageID, by user: UserID) throws(StoreError) -> ButtonPress?
    /// The last presses by a person of the buttons of these ids, in these messages.
    func buttonPresses(
        named buttons: [String],
        of messages: [MessageID],
        by user: UserID
    ) throws(StoreError) -> [ButtonPress]
}

/// How presses of buttons are written.
package protocol ButtonWriting {
    /// Keeps a press in place of an earlier one of the same button and person.
    func save(_ press: ButtonPress) throws(StoreError)
    /// Inserts a press; false where there is one of the same button and person.
    func insert(_ press: ButtonPress) throws(StoreError) -> Bool
    /// Removes presses from before a moment, at most so many; answers how many.
    func removeButtonPresses(before moment: Timestamp, limit: Int) throws(StoreError) -> Int
}
