// What readers of messages are shown of buttons whose call the server makes.
extension ButtonService {
    /// How one button stands for who reads its message.
    package struct State: Sendable {
        /// Whether a press of theirs would be taken now.
        package var mayPress: Bool
        /// Their last press; nil: there was none, or it is over.
        package var press: ButtonPress?
    }

    /// How buttons stand, by the ids of messages and buttons.
    package typealias States = [MessageID: [String: State]]

    /// Buttons that call, of a message that the caller reads.
    package struct Asked: Sendable {
        let message: Record
        let buttons: [String]

        /// These buttons, by their ids.
        package init(_ buttons: [String], of message: Record) { (self.message, self.buttons) = (message, buttons) }
    }

    /// How the buttons stand for the caller, in two statements.
    ///
    /// That the caller reads the messages is not looked up again.
    package func states(of asked: [Asked], caller: Identity) async throws(ServiceError) -> States {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { return [:] }
        var mayPress = AccessPolicy.mayManageOwnThings(caller, writing: true)
        if case .deny = AccessPolicy.decision(.get, on: rights.messages, for: caller) { mayPress = false }
        var integrationOf: [MessageID: [String: String]] = [:]
        for each in asked where mayPress && !each.message.isDeleted && isYoung(each.message) {
            for button in each.buttons {
                let call = call(of: button, in: each.message)
                integrationOf[MessageID(each.message.id), default: [:]][button] = call?.integrationID
            }
        }
        let ids = Array(Set(integrationOf.values.flatMap(\.values)))
        let (names, messages) = (Array(Set(asked.flatMap(\.buttons))), asked.map { MessageID($0.message.id) })
        let model = integrations
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            let integrations = ids.isEmpty ? [] : try reader.records(model, ids: ids, where: .always)
            let presses = try reader.buttonPresses(named: names, of: messages, by: caller.userID)
            return (allowing: Set(integrations.filter(Self.allowsCalls).map(\.id)), presses: presses)
        }
        var states: States = [:]
        for (message, buttons) in integrationOf {
            for (button, id) in buttons where found.allowing.contains(id) {
                states[message, default: [:]][button] = State(mayPress: true, press: nil)
            }
        }
        for press in found.presses {
            let mayPress = states[press.messageID]?[press.buttonID]?.mayPress == true
            states[press.messageID, default: [:]][press.buttonID] = State(mayPress: mayPress, press: press)
        }
        return states
    }
}
