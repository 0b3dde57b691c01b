/// What somebody sees of a topic who may publish to it and not read it: that it is there, and its
/// name.
extension Record {
    private static let shownFields: Set<String> = ["id", "name", "arn", "_deleted"]

    /// Whether the caller sees no more of this topic than its name.
    func isNameAlone(for caller: Identity, _ roles: GrantedRoles) -> Bool {
        guard model.sharing?.isTopic == true,
            case .allow(let readable) = AccessPolicy.decision(.get, on: model, for: caller, granting: .reading)
        else { return false }
        return !readable.matches(self, roles)
    }

    /// The topic with id, name and ARN, and what the server alone writes and no type lets be
    /// missing.
    var nameAlone: Record {
        var record = self
        for (position, field) in model.fields.enumerated() where !Self.shownFields.contains(field.name) {
            if field.role == .generated, field.isRequired { continue }
            record.values[position] = .null
        }
        return record
    }
}

extension ModelType {
    /// Positions of what may be asked about topics by whoever sees their names alone.
    var facePositions: Set<Int> {
        Set(["id", "name", "arn", "_deleted"].compactMap { position(of: $0) })
    }
}

extension StoreReader {
    /// Topics as the caller may see them: of those that they may only publish to, the names.
    ///
    /// Nothing is read where the rules alone show them.
    func shown(
        _ records: [Record],
        to caller: Identity,
        by operation: AccessRule.Operation
    ) throws(StoreError) -> [Record] {
        guard let model = records.first?.model, model.sharing?.isTopic == true,
            case .allow(let visible) = AccessPolicy.decision(operation, on: model, for: caller),
            let question = visible.grantQuestions.first
        else { return records }
        let shared = records.filter { !visible.matches($0) }
        guard !shared.isEmpty else { return records }
        let roles = try roles(of: question.subjects, in: shared.map { TopicID($0.id) })
        return records.map { record in
            guard !visible.matches(record) else { return record }
            let held = roles.roles(of: question.subjects, in: TopicID(record.id))
            return held.isDisjoint(with: .reading) ? record.nameAlone : record
        }
    }
}
