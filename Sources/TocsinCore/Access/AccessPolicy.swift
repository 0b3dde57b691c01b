/// What a rule decides for one caller, operation and model.
package enum AccessDecision: Sendable, Hashable {
    /// Allowed for the records that satisfy the predicate; a record to be created must satisfy it too.
    case allow(where: Predicate)
    case deny(reason: String)
}

/// The auth rules of a model, decided: the same predicate for reads, writes, relations and subscriptions.
package enum AccessPolicy {
    /// Decides for a caller; a token's scope narrows what the rules give.
    package static func decision(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        for caller: Identity
    ) -> AccessDecision {
        let rules = model.rules.filter { $0.operations.contains(operation) }
        guard !rules.isEmpty else {
            return .deny(reason: "The schema's rules for \(model.name) allow nobody to \(operation.rawValue).")
        }
        switch caller.scope {
        case .readOnly where operation != .read:
            return .deny(reason: "This token is read-only.")
        case .publish(let topic):
            return publishDecision(operation, on: model, topic: topic, rules: rules, caller: caller)
        case .full, .readOnly:
            return .allow(where: ownership(rules, in: model, caller: caller))
        }
    }

    /// Whether the caller may use what belongs to a person and not to a model: devices, memberships, redrives.
    package static func mayManageOwnThings(_ caller: Identity, writing: Bool) -> Bool {
        switch caller.scope {
        case .full: true
        case .readOnly: !writing
        case .publish: false
        }
    }

    private static func publishDecision(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        topic: String,
        rules: [AccessRule],
        caller: Identity
    ) -> AccessDecision {
        let keyField = model.name == "Topic" ? "id" : "topicId"
        let isUseful = model.name == "Topic" && operation == .read || model.name == "Message" && operation == .create
        guard isUseful, let position = model.position(of: keyField) else {
            return .deny(reason: "This token may only publish to one topic.")
        }
        let inTopic = Predicate.field(position, .equal(.text(topic)))
        return .allow(where: ownership(rules, in: model, caller: caller).and(inTopic))
    }

    private static func ownership(_ rules: [AccessRule], in model: ModelType, caller: Identity) -> Predicate {
        let alternatives = rules.compactMap { rule -> Predicate? in
            guard let position = model.position(of: rule.ownerField) else { return nil }
            return .field(position, .isOneOf(caller.ownerForms.map(FieldValue.text)))
        }
        return alternatives.count == 1 ? alternatives[0] : .any(alternatives)
    }
}
