import Synchronization

/// What the rules say of the messages that one caller makes.
final class MessageRights: Sendable {
    let caller: Identity
    /// What they ask of the message.
    private let permitted: Predicate
    /// What they ask of its topic.
    private let publishable: Predicate

    init(caller: Identity, permitted: Predicate, publishable: Predicate) {
        self.caller = caller
        self.permitted = permitted
        self.publishable = publishable
    }

    /// Whether this message, made of this input, may be made.
    func mayCreate(_ message: Record, of input: RecordInput) -> Bool {
        guard permitted.matches(message) else { return false }
        return message.model.fieldRules.isEmpty || caller.mayWrite(input, .create, to: message)
    }

    /// Whether a message may be made in this topic.
    func mayPublish(to topic: Record) -> Bool { !topic.isDeleted && publishable.matches(topic) }
}

/// The rights of those who made messages before, so that the rules are asked once for each caller.
///
/// They follow from the caller and from rules that stand as long as the service: so they are as good as new for whoever is the
/// same in every part.
final class RightsMemory: Sendable {
    private let rights = Mutex<[String: MessageRights]>([:])
    private static let maximumCount = 4096

    /// The rights of this caller; `made`, which is nil for whoever has none, where they are not known.
    func rights(of caller: Identity, made: () -> MessageRights?) -> MessageRights? {
        let name = caller.tokenID?.text ?? caller.owner
        let known = rights.withLock { $0[name] }
        if let known, known.caller == caller { return known }
        guard let new = made() else { return nil }
        rights.withLock { rights in
            if rights.count >= Self.maximumCount { rights.removeAll() }
            rights[name] = new
        }
        return new
    }
}
