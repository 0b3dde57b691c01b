// What a create of an id or key answers that is taken.
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
        defaults: RecordInput = [:]
    ) -> Result<Record, ServiceError> {
        if !stored.isDeleted, mayRepeat(input, stored, caller) {
            let hidden = Set(model.fieldRules.keys.filter { !stored.isReadable(at: $0, by: caller) })
            if isRepeat(input, of: stored, defaults: defaults, hiding: hidden) { return .success(stored) }
        }
        return .failure(.conflict(stored.shown(to: caller)))
    }

    private func mayRepeat(_ input: RecordInput, _ stored: Record, _ caller: Identity) -> Bool {
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: model, for: caller),
            permitted.matches(stored), caller.mayWrite(input, .create, to: stored)
        else { return false }
        guard model.ownerRules.isEmpty else { return isOwned(stored, by: caller) }
        // A token that only publishes is answered what its user may read; whether it may publish that was asked above.
        var user = caller
        if case .publish = caller.scope { user.scope = .full }
        return stored.shown(to: user) != nil
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
    /// The record as a refusal may show it: only to whom `get` would give it, with the token that they ask with.
    func shown(to caller: Identity) -> Record? {
        guard case .allow(let visible) = AccessPolicy.decision(.get, on: model, for: caller), visible.matches(self)
        else { return nil }
        return self
    }

    /// Whether the rules of a single field, if it has any, let the caller read it.
    package func isReadable(at position: Int, by caller: Identity) -> Bool {
        AccessPolicy.readable([position], of: model, by: caller).matches(self)
    }
}
