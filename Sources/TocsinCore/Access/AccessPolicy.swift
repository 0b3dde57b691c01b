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

    /// The same where grants must give one of these roles, in place of those that the operation
    /// asks for.
    package static func decision(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        for caller: Identity,
        granting need: TopicRole
    ) -> AccessDecision {
        decided(operation, on: model, for: caller, granting: need)
    }

    private static func decided(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        for caller: Identity,
        granting need: TopicRole? = nil
    ) -> AccessDecision {
        if let topic = caller.readTopic { return readersDecision(operation, on: model, of: topic) }
        let ruled = granted(
            model.rules,
            { $0.covers(operation) && mayUse($0, for: operation, caller) },
            in: model,
            to: caller
        )
        guard let granted = joined(ruled, shared(operation, on: model, with: caller, need)) else {
            return .deny(
                reason: model.rules.contains { $0.covers(operation) && mayUse($0, for: operation, caller) }
                    ? "No rule for \(model.name) allows this caller to \(operation.rawValue)."
                    : "The schema's rules for \(model.name) allow nobody to \(operation.rawValue)."
            )
        }
        let narrowing = ScopeNarrowing(caller)
        guard let left = narrowing.records(for: operation, on: model) else { return .deny(reason: narrowing.reason) }
        return .allow(where: granted.and(left))
    }

    /// What all readers of a topic may see of it and its messages.
    private static func readersDecision(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        of topic: TopicID
    ) -> AccessDecision {
        guard let sharing = model.sharing, [.read, .get, .list, .listen].contains(operation),
            sharing.need(for: .read) == .reading
        else {
            return .deny(reason: "Readers of a topic may only read it.")
        }
        return .allow(where: .field(sharing.field, .equal(.text(topic.text))))
    }

    /// What grants add to the rules: those of topics that others share with the caller.
    ///
    /// They reach as far as an owner's rule does: what the file lets no owner do, nobody may do
    /// by a grant.
    private static func shared(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        with caller: Identity,
        _ need: TopicRole?
    ) -> Predicate? {
        guard let sharing = model.sharing, let need = need ?? sharing.need(for: operation), caller.isPerson,
            model.rules.contains(where: {
                $0.owner != nil && $0.covers(operation) && mayUse($0, for: operation, caller)
                    && caller.isFrom($0.provider)
            })
        else { return nil }
        return .granted(sharing.field, need, GrantSubject.of(caller)).and(sharing.among)
    }

    private static func joined(_ ruled: Predicate?, _ shared: Predicate?) -> Predicate? {
        switch (ruled, shared) {
        case (let ruled, nil): ruled
        case (nil, let shared): shared
        case (.always?, _): .always
        case (.any(let parts)?, let shared?): .any(parts + [shared])
        case (let ruled?, let shared?): .any([ruled, shared])
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

    /// What belongs to a person and not to a model.
    package enum OwnThings: Sendable, Hashable {
        /// Devices, whether they get pushes, and how far their user has read.
        case ofDevices
        /// Memberships, settings, schedules, redrives.
        case others
    }

    /// Whether the caller may use what belongs to a person and not to a model.
    package static func mayManageOwnThings(
        _ caller: Identity,
        _ things: OwnThings = .others,
        writing: Bool
    ) -> Bool {
        caller.isPerson && ScopeNarrowing(caller).ownThings(things, writing: writing)
    }

    /// Whether the caller may make tokens, grants and sessions: persons by full tokens alone.
    package static func mayGiveAccess(_ caller: Identity) -> Bool { caller.isPerson && caller.scope.isFull }

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
        return ScopeNarrowing(caller).pushReach
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
            // By bytes, as groups are told apart: two spellings of a letter are two names.
            let isMember = caller.groupValues(of: claim).contains { value in names.contains { $0.hasBytes(of: value) } }
            return isMember ? .always : nil
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
