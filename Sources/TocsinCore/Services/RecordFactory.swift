/// Makes and changes records as AppSync does (`docs/appsync.md`).
package struct RecordFactory: Sendable {
    /// The model whose records it makes.
    package let model: ModelType

    /// A factory for one model.
    package init(model: ModelType) {
        self.model = model
    }

    /// A new record: defaults, overlaid with the input, owned by the caller, version 1.
    package func make(_ input: RecordInput, id: String, owner: String, at moment: Timestamp) -> Record {
        make(input, id: id, from: beginning(owner: owner, at: moment))
    }

    /// A new record of this caller: every owner field that the input leaves out, or the server
    /// alone writes, is theirs.
    package func make(_ input: RecordInput, id: String, caller: Identity, at moment: Timestamp) -> Record {
        var record = make(input, id: id, owner: caller.owner, at: moment)
        if !model.isSimplyOwned { setOwners(of: &record, madeOf: input, by: caller) }
        return record
    }

    /// What all new records of one owner begin with that are made at one time.
    struct Beginning {
        /// The values of all fields.
        fileprivate var values: [FieldValue]
    }

    func beginning(owner: String, author: UserID? = nil, at moment: Timestamp) -> Beginning {
        let known = model.knownPositions
        let (text, time) = (FieldValue.text(moment.iso8601), FieldValue.int(moment.milliseconds))
        let begun: [(Int?, FieldValue)] = [
            (known.created, text), (known.updated, text), (known.changed, time), (known.making, time),
            (known.owner, .text(owner)), (known.version, .int(1)),
        ]
        var values = Record(model: model).values
        for case (let position?, let value) in begun { values[position] = value }
        if let author, let position = known.author { values[position] = .text(author.text) }
        return Beginning(values: values)
    }

    /// A new record, whose other owner fields `setOwners` sets where the model has such.
    func make(_ input: RecordInput, id: String, from beginning: Beginning) -> Record {
        var values = beginning.values
        for index in 0..<input.count {
            guard let position = input.position(at: index, in: model), model.isGivable[position] else { continue }
            let value = input.value(at: index)
            if !value.isNull { values[position] = value }
        }
        for (position, value, isRequired) in model.knownPositions.defaults {
            let given = input.value(ofFieldAt: position, in: model)
            if given.map({ $0.isNull && isRequired }) ?? true { values[position] = value }
        }
        if let key = model.keyPosition { values[key] = .text(id) }
        return Record(model: model, values: values)
    }

    /// Makes every owner field of a new record the caller's that the input leaves out, or
    /// the server alone writes.
    func setOwners(of record: inout Record, madeOf input: RecordInput, by caller: Identity) {
        if let position = model.position(of: "owner"), model.fields[position].role == .generated {
            record.values[position] = .null
        }
        for rule in model.ownerRules {
            guard let position = model.position(of: rule.field), let owner = caller.ownerForms(of: rule.claim).first
            else { continue }
            let field = model.fields[position]
            guard field.role == .generated || input[field.name] == nil else { continue }
            record.values[position] = field.isList ? JSONListText.list(of: owner) : .text(owner)
        }
    }

    /// Takes away whatever an input says of owners: only the topic's owner has a message that is
    /// published by a grant.
    func clearOwners(of record: inout Record) {
        for rule in model.ownerRules where rule.field != "owner" {
            if let position = model.position(of: rule.field) { record.values[position] = .null }
        }
    }

    /// The record with the given fields set (null removes), the next
    /// version and the time of change.
    package func changed(_ record: Record, by input: RecordInput, at moment: Timestamp) -> Record {
        var record = record
        for (position, field) in model.fields.enumerated() where isChangeable(field) {
            guard let value = input[field.name] else { continue }
            record.values[position] = value
        }
        if input[model.timestamps.updated] == nil { record[model.timestamps.updated] = .text(moment.iso8601) }
        return stepped(record, at: moment)
    }

    /// The record with an update merged in that was made to another version (AppSync's AUTOMERGE).
    ///
    /// Stored values stay, missing ones are taken, lists are joined, objects merged member by
    /// member.
    package func merged(_ record: Record, with input: RecordInput, at moment: Timestamp) -> Record {
        var record = record
        for (position, field) in model.fields.enumerated() where isChangeable(field) {
            guard let value = input[field.name], !value.isNull else { continue }
            switch (record.values[position], value) {
            case (.null, _): record.values[position] = value
            case (.json(let stored), .json(let given)):
                record.values[position] = .json(
                    field.isList ? JSONListText.joined(stored, given) : JSONObjectText.merged(stored, given)
                )
            default: continue
            }
        }
        return stepped(record, at: moment)
    }

    private func isChangeable(_ field: ModelField) -> Bool {
        field.role == .declared && !model.keyFields.contains(field.name)
    }

    /// The tombstone of a record: all its fields, marked deleted.
    package func tombstone(of record: Record, at moment: Timestamp) -> Record {
        var record = record
        record["_deleted"] = .bool(true)
        return stepped(record, at: moment)
    }

    /// Whether a repeated create has the same content as the stored record.
    ///
    /// Every declared field must be what is stored, whether the input gives it or leaves it out.
    ///
    /// Timestamps made by the server do not count. Fields that are hidden from the caller are never
    /// compared: a create that gives one repeats nothing.
    package func isRepeat(
        _ input: RecordInput,
        of stored: Record,
        defaults: RecordInput = [:],
        hiding hidden: Set<Int> = []
    ) -> Bool {
        model.fields.enumerated().allSatisfy { position, field in
            guard isChangeable(field) else { return true }
            guard !hidden.contains(position) else { return input[field.name] == nil }
            if let given = input[field.name], !given.isNull { return given.hasBytes(of: stored[field.name]) }
            if [model.timestamps.created, model.timestamps.updated].contains(field.name) { return true }
            if model.ownerRules.contains(where: { $0.field == field.name }) { return true }
            return stored[field.name].hasBytes(of: defaults[field.name] ?? field.defaultValue ?? .null)
        }
    }

    private func stepped(_ record: Record, at moment: Timestamp) -> Record {
        var record = record
        record["_version"] = .int(record.version + 1)
        let time = FieldValue.int(max(moment.milliseconds, record.lastChangedAt))
        record["_lastChangedAt"] = time
        record[ModelType.revisionTime] = time
        return record
    }
}

extension RecordFactory {
    /// The stored record if the create repeats it and is by its owner; else a conflict.
    ///
    /// The conflict carries the stored record only if the caller may read it.
    ///
    /// A token's scope narrows both. A repeat is answered only if this token may create just that,
    /// and a conflict shows only what this token may read.
    package func outcome(
        ofRepeating input: RecordInput,
        stored: Record,
        caller: Identity,
        defaults: RecordInput = [:],
        roles: GrantedRoles = GrantedRoles()
    ) -> Result<Record, ServiceError> {
        if !stored.isDeleted, mayRepeat(input, stored, caller, roles) {
            let hidden = Set(model.fieldRules.keys.filter { !stored.isReadable(at: $0, by: caller) })
            if isRepeat(input, of: stored, defaults: defaults, hiding: hidden) { return .success(stored) }
        }
        return .failure(.conflict(stored.shown(to: caller, roles)))
    }

    private func mayRepeat(
        _ input: RecordInput,
        _ stored: Record,
        _ caller: Identity,
        _ roles: GrantedRoles
    ) -> Bool {
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: model, for: caller),
            permitted.matches(stored, roles), caller.mayWrite(input, .create, to: stored)
        else { return false }
        guard model.ownerRules.isEmpty else {
            return isOwned(stored, by: caller) || mayRepeatByGrant(stored, caller, roles)
        }
        // A token that only publishes is answered what its user may read; whether it may
        // publish that was asked above.
        var user = caller
        if case .publish = caller.scope { user.scope = .full }
        return stored.shown(to: user) != nil
    }

    /// Whether the caller published the message in somebody else's topic, or publishes and reads
    /// there.
    private func mayRepeatByGrant(_ stored: Record, _ caller: Identity, _ roles: GrantedRoles) -> Bool {
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: model, for: caller),
            let question = permitted.grantQuestions.first, let topic = question.topic(of: stored)
        else { return false }
        let held = roles.roles(of: question.subjects, in: topic)
        guard !held.isDisjoint(with: .publishing) else { return false }
        return stored.author?.text.hasBytes(of: caller.userID.text) ?? false || !held.isDisjoint(with: .reading)
    }

    /// Whether an owner field of the record names the caller.
    private func isOwned(_ stored: Record, by caller: Identity) -> Bool {
        model.ownerRules.contains { rule in
            guard let position = model.position(of: rule.field) else { return false }
            let forms = caller.ownerForms(of: rule.claim)
            return model.fields[position].isList
                ? forms.contains { Predicate.field(position, .contains($0)).matches(stored) }
                : stored.values[position].text.map(forms.contains) ?? false
        }
    }
}

extension Record {
    /// The record as a refusal may show it: only to whom `get` would give it, with the
    /// token that they ask with.
    func shown(to caller: Identity, _ roles: GrantedRoles = GrantedRoles()) -> Record? {
        guard case .allow(let visible) = AccessPolicy.decision(.get, on: model, for: caller),
            visible.matches(self, roles), !isNameAlone(for: caller, roles)
        else { return nil }
        return self
    }

    /// Whether the rules of a single field, if it has any, let the caller read it.
    package func isReadable(at position: Int, by caller: Identity) -> Bool {
        AccessPolicy.readable([position], of: model, by: caller).matches(self)
    }
}
