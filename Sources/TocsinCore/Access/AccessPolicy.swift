/// What a rule decides for one caller, operation and model.
package enum AccessDecision: Sendable, Hashable {
    /// Allowed for the records that satisfy the predicate; a record to be
    /// created must satisfy it too.
    case allow(where: Predicate)
    case deny(reason: String)
}

/// The auth rules of a model, decided: the same predicate for reads, writes,
/// relations and subscriptions.
package enum AccessPolicy {
    /// Decides for a caller; a token's scope narrows what the rules give.
    package static func decision(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        for caller: Identity
    ) -> AccessDecision {
        caller.decisions.decision(operation, on: model) { decided(operation, on: model, for: caller) }
    }

    private static func decided(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        for caller: Identity
    ) -> AccessDecision {
        let granted = granted(
            model.rules,
            { $0.covers(operation) && mayUse($0, for: operation, caller) },
            in: model,
            to: caller
        )
        guard let granted else {
            return .deny(
                reason: model.rules.contains { $0.covers(operation) && mayUse($0, for: operation, caller) }
                    ? "No rule for \(model.name) allows this caller to \(operation.rawValue)."
                    : "The schema's rules for \(model.name) allow nobody to \(operation.rawValue)."
            )
        }
        switch caller.scope {
        case .readOnly where [.create, .update, .delete].contains(operation):
            return .deny(reason: "This token is read-only.")
        case .publish(let topic):
            return publishDecision(operation, on: model, topic: topic, granted: granted)
        case .push:
            return pushDecision(operation, on: model, caller, granted: granted)
        case .full, .readOnly:
            return .allow(where: granted)
        }
    }

    /// Decides about one field that has rules of its own, which stand in place of the
    /// model's; nil where it has none.
    package static func decision(
        _ operation: AccessRule.Operation,
        onField position: Int,
        of model: ModelType,
        for caller: Identity
    ) -> AccessDecision? {
        guard let rules = model.fieldRules[position] else { return nil }
        return decision(operation, by: rules, onField: model.fields[position].name, of: model, for: caller)
    }

    /// The records in which the caller may read all of these fields, as far as they
    /// have rules of their own.
    package static func readable(
        _ positions: [Int],
        of model: ModelType,
        by caller: Identity
    ) -> Predicate {
        var readable = Predicate.always
        guard !model.fieldRules.isEmpty else { return readable }
        for position in positions {
            switch decision(.get, onField: position, of: model, for: caller) {
            case nil: continue
            case .deny?: return .never
            case .allow(let permitted)?: readable = readable.and(permitted)
            }
        }
        return readable
    }

    /// Decides about following a relation that has rules of its own; nil where it has none.
    package static func decision(
        following relation: ModelRelation,
        of model: ModelType,
        for caller: Identity
    ) -> AccessDecision? {
        guard let rules = relation.rules else { return nil }
        return decision(.get, by: rules, onField: relation.fieldName, of: model, for: caller)
    }

    private static func decision(
        _ operation: AccessRule.Operation,
        by rules: [AccessRule],
        onField name: String,
        of model: ModelType,
        for caller: Identity
    ) -> AccessDecision {
        guard let granted = granted(rules, { $0.covers(operation) }, in: model, to: caller) else {
            return .deny(reason: "No rule for \(model.name).\(name) allows this caller to \(operation.rawValue).")
        }
        return .allow(where: granted)
    }

    /// Whether the caller may use what belongs to a person and not to a model:
    /// devices, memberships, redrives.
    package static func mayManageOwnThings(_ caller: Identity, writing: Bool) -> Bool {
        guard caller.isPerson else { return false }
        return switch caller.scope {
        case .full: true
        case .readOnly: !writing
        case .publish, .push: false
        }
    }

    /// Whose devices a caller may push to directly.
    package enum PushReach: Sendable, Hashable {
        case everybody
        case only(UserID)
        case nobody
    }

    /// Tokens made for pushing reach everybody, people themselves; narrower
    /// tokens and API keys nobody.
    package static func pushReach(of caller: Identity) -> PushReach {
        guard caller.provider != .apiKey, caller.isComplete else { return .nobody }
        return switch caller.scope {
        case .push: .everybody
        case .full: .only(caller.userID)
        case .readOnly, .publish: .nobody
        }
    }

    /// A push token sees the topic that holds its user's direct pushes.
    private static func pushDecision(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        _ caller: Identity,
        granted: Predicate
    ) -> AccessDecision {
        let keyField = model.name == "Topic" ? "id" : "topicId"
        guard [.read, .get, .list].contains(operation), ["Topic", "Message"].contains(model.name),
            let position = model.position(of: keyField)
        else { return .deny(reason: "This token may only push.") }
        return .allow(
            where: granted.and(.field(position, .equal(.text(DirectPushService.topicID(of: caller).text))))
        )
    }

    /// Who lacks half of the default claim writes nothing as an owner, and hears of nothing.
    private static func mayUse(
        _ rule: AccessRule,
        for operation: AccessRule.Operation,
        _ caller: Identity
    ) -> Bool {
        guard !caller.isComplete, rule.owner?.claim == AccessRule.ownerClaim else { return true }
        return ![.create, .update, .delete, .listen].contains(operation)
    }

    private static func publishDecision(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        topic: String,
        granted: Predicate
    ) -> AccessDecision {
        let keyField = model.name == "Topic" ? "id" : "topicId"
        let reads = [AccessRule.Operation.read, .get, .list].contains(operation)
        let isUseful = model.name == "Topic" && reads || model.name == "Message" && operation == .create
        guard isUseful, let position = model.position(of: keyField) else {
            return .deny(reason: "This token may only publish to one topic.")
        }
        return .allow(where: granted.and(.field(position, .equal(.text(topic)))))
    }

    /// The records that the rules give to the caller; nil when no rule is
    /// about such a caller at all.
    private static func granted(
        _ rules: [AccessRule],
        _ isMeant: (AccessRule) -> Bool,
        in model: ModelType,
        to caller: Identity
    ) -> Predicate? {
        var first: Predicate?
        var others: [Predicate] = []
        for rule in rules where isMeant(rule) && caller.isFrom(rule.provider) {
            switch (granted(rule.grantee, in: model, to: caller), first) {
            case (nil, _): continue
            case (.always?, _): return .always
            case (let predicate?, nil): first = predicate
            case (let predicate?, .some): others.append(predicate)
            }
        }
        guard let first, !others.isEmpty else { return first }
        return .any([first] + others)
    }

    private static func granted(_ grantee: AccessRule.Grantee, in model: ModelType, to caller: Identity) -> Predicate? {
        switch grantee {
        case .owner(let field, let claim):
            return named(by: field, in: model, values: caller.ownerForms(of: claim))
        case .groups(let names, let claim):
            return names.isDisjoint(with: caller.groupValues(of: claim)) ? nil : .always
        case .groupsField(let field, let claim):
            return named(by: field, in: model, values: caller.groupValues(of: claim))
        case .signedIn, .keyBearer: return .always
        }
    }

    /// The records whose field is, or as a list has, one of the values.
    private static func named(by field: String, in model: ModelType, values: [String]) -> Predicate? {
        guard !values.isEmpty, let position = model.position(of: field) else { return nil }
        guard model.fields[position].isList else {
            return .field(position, .isOneOf(values.map(FieldValue.text)))
        }
        return .any(values.map { .field(position, .contains($0)) })
    }
}
