/// What a token's scope leaves of the rights of its user: the one place that says it.
///
/// Rights add up, and each takes from what the rules give. `AccessPolicy` asks here.
struct ScopeNarrowing {
    private let caller: Identity
    private let scope: Identity.Scope

    init(_ caller: Identity) {
        (self.caller, scope) = (caller, caller.scope)
    }

    /// The records of a model that the scope leaves; nil for none at all.
    func records(for operation: AccessRule.Operation, on model: ModelType) -> Predicate? {
        let isRead = ![.create, .update, .delete].contains(operation)
        if scope.isFull || (isRead && scope.readsAll) { return .always }
        switch (ownTopics(on: model), named(topics(for: operation, on: model), on: model)) {
        case (let own?, let named?): return .any([own, named])
        case (let own, let named): return own ?? named
        }
    }

    /// The topics that a token for managing topics leaves: its user's own, and no shared ones.
    private func ownTopics(on model: ModelType) -> Predicate? {
        guard scope.rights.contains(.topics), model.name == "Topic" else { return nil }
        // Where topics have no owners, all are everybody's as the rules say.
        guard let owner = model.position(of: "owner") else { return .always }
        return .field(owner, .isOneOf(caller.ownerForms.map(FieldValue.text)))
    }

    private func named(_ topics: [String], on model: ModelType) -> Predicate? {
        guard !topics.isEmpty, let position = model.position(of: model.name == "Topic" ? "id" : "topicId") else {
            return nil
        }
        let texts = Set(topics).sorted().map(FieldValue.text)
        return .field(position, texts.count == 1 ? .equal(texts[0]) : .isOneOf(texts))
    }

    /// The topics that the scope names, or means, for an operation on them or their messages.
    private func topics(for operation: AccessRule.Operation, on model: ModelType) -> [String] {
        let looks = [AccessRule.Operation.read, .get, .list].contains(operation)
        switch model.name {
        case "Topic":
            let listens = looks || [.listen, .sync].contains(operation)
            return (listens ? scope.readTopics : []) + (looks ? scope.publishTopics + directPushes : [])
        case "Message" where operation == .create: return scope.publishTopics
        case "Message":
            let listens = looks || [.listen, .sync].contains(operation)
            return (listens ? scope.readTopics : []) + (looks ? directPushes : [])
        case "Incident" where model.sharing != nil:
            return looks || [.listen, .sync].contains(operation) ? scope.readTopics : []
        default: return []
        }
    }

    /// A token for pushing sees the topic that holds its user's direct pushes.
    private var directPushes: [String] {
        scope.rights.contains(.push) ? [DirectPushService.topicID(of: caller).text] : []
    }

    /// Why nothing is left.
    var reason: String {
        switch scope {
        case .readOnly: "This token is read-only."
        case .push: "This token may only push."
        default: "This token may only do what its scopes say: \(scope.words.joined(separator: " "))."
        }
    }

    /// Whether things that belong to a person are left.
    func ownThings(_ things: AccessPolicy.OwnThings, writing: Bool) -> Bool {
        if scope.isFull { return true }
        guard writing else { return scope.readsAll }
        return things == .ofDevices && scope.rights.contains(.device)
    }

    /// Whose devices the scope lets the caller push to.
    var pushReach: AccessPolicy.PushReach {
        if scope.rights.contains(.push) { return .everybody }
        return scope.isFull ? .only(caller.userID) : .nobody
    }
}
