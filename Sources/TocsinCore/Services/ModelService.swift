/// Reads and writes records of any model: policy, store and events joined.
package struct ModelService: Sendable {
    package let environment: ServiceEnvironment
    private let checks: InputChecks

    package init(environment: ServiceEnvironment) {
        self.environment = environment
        checks = InputChecks(limits: environment.limits)
    }

    // MARK: Reading

    /// Records with these ids that the caller may read; the others are as absent.
    package func records(
        _ model: ModelType,
        ids: [String],
        caller: Identity
    ) async throws(ServiceError) -> [String: Record] {
        guard case .allow(let visible) = AccessPolicy.decision(.read, on: model, for: caller) else { return [:] }
        let unique = Array(Set(ids))
        let found = try await environment.store.reading { reader throws(StoreError) in
            try reader.records(model, ids: unique, where: visible)
        }
        return Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A page of records that the caller may read; one more than the limit is looked for, to know whether more follow.
    package func page(_ query: ModelQuery, caller: Identity) async throws(ServiceError) -> RecordPage {
        guard case .allow(let visible) = AccessPolicy.decision(.read, on: query.model, for: caller) else {
            throw .unauthorized
        }
        var query = query
        query.predicate = visible.and(query.predicate)
        query.limit += 1
        let completed = query
        var records = try await environment.store.reading { reader throws(StoreError) in
            try reader.records(completed)
        }
        let hasMore = records.count == query.limit
        if hasMore { records.removeLast() }
        return RecordPage(records: records, hasMore: hasMore)
    }

    // MARK: Writing

    /// Creates a record; repeating a create with the same id and content answers with the stored record.
    package func create(
        _ model: ModelType,
        _ input: RecordInput,
        condition: Predicate = .always,
        caller: Identity
    ) async throws(ServiceError) -> Record {
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: model, for: caller) else {
            throw .unauthorized
        }
        try checks.check(input, of: model)
        let environment = environment
        let id = input["id"]?.text ?? environment.identifiers.makeID()
        return try await environment.store.writing { writer throws(StoreError) in
            let factory = RecordFactory(model: model)
            let record = factory.make(input, id: id, owner: caller.owner, at: environment.time.now())
            guard permitted.matches(record) else { return .failure(.unauthorized) }
            guard condition.matches(Record(model: model)) else { return .failure(.conditionFailed(nil)) }
            if let stored = try writer.insert(record) {
                return factory.outcome(ofRepeating: input, stored: stored, caller: caller)
            }
            writer.note(.created(record))
            return .success(record)
        }
    }

    /// Changes a record; the order of checks is owner, version, condition (appsync.md 2.8).
    package func update(
        _ model: ModelType,
        _ input: RecordInput,
        guarded: WriteGuard,
        caller: Identity
    ) async throws(ServiceError) -> Record {
        try checks.check(input, of: model)
        let time = environment.time
        return try await change(model, .update, guarded, caller) { record in
            .updated(RecordFactory(model: model).changed(record, by: input, at: time.now()))
        }
    }

    /// Turns a record into its tombstone.
    package func delete(
        _ model: ModelType,
        guarded: WriteGuard,
        caller: Identity
    ) async throws(ServiceError) -> Record {
        let time = environment.time
        return try await change(model, .delete, guarded, caller) { record in
            .deleted(RecordFactory(model: model).tombstone(of: record, at: time.now()))
        }
    }

    private enum Change {
        case updated(Record)
        case deleted(Record)
    }

    private func change(
        _ model: ModelType,
        _ operation: AccessRule.Operation,
        _ guarded: WriteGuard,
        _ caller: Identity,
        _ apply: @escaping @Sendable (Record) -> Change
    ) async throws(ServiceError) -> Record {
        guard case .allow(let permitted) = AccessPolicy.decision(operation, on: model, for: caller) else {
            throw .unauthorized
        }
        return try await environment.store.writing { writer throws(StoreError) in
            guard let stored = try writer.records(model, ids: [guarded.id], where: permitted).first else {
                return .failure(.unauthorized)
            }
            if let refusal = guarded.refusal(for: stored, operation: operation) { return .failure(refusal) }
            switch apply(stored) {
            case .updated(let record):
                try writer.update(record)
                writer.note(.updated(record))
                return .success(record)
            case .deleted(let record):
                try writer.update(record)
                writer.note(.deleted(record))
                return .success(record)
            }
        }
    }
}

/// Records of one page.
package struct RecordPage: Sendable, Hashable {
    package var records: [Record]
    package var hasMore: Bool

    package init(records: [Record], hasMore: Bool) {
        self.records = records
        self.hasMore = hasMore
    }
}

/// What must hold of the stored record before it is changed.
package struct WriteGuard: Sendable, Hashable {
    package var id: String
    /// nil: whatever version is stored.
    package var version: Int64?
    package var condition: Predicate

    package init(id: String, version: Int64? = nil, condition: Predicate = .always) {
        self.id = id
        self.version = version
        self.condition = condition
    }

    /// A tombstone is never brought back: an update of it is a version conflict, whatever version is named.
    fileprivate func refusal(for stored: Record, operation: AccessRule.Operation) -> ServiceError? {
        let expected = version ?? stored.version
        if expected != stored.version || stored.isDeleted && (operation == .update || version == nil) {
            return .versionConflict(stored, expected: expected)
        }
        return condition.matches(stored) ? nil : .conditionFailed(stored)
    }
}

extension RecordFactory {
    /// What a create of a taken id answers: the stored record to its owner with the same content, else a conflict that
    /// shows a stored record only to its owner.
    package func outcome(
        ofRepeating input: RecordInput,
        stored: Record,
        caller: Identity,
        defaults: RecordInput = [:]
    ) -> Result<Record, ServiceError> {
        let isOwn = stored.owner.map(caller.ownerForms.contains) ?? false
        guard isOwn else { return .failure(.conflict(nil)) }
        return isRepeat(input, of: stored, defaults: defaults) && !stored.isDeleted
            ? .success(stored) : .failure(.conflict(stored))
    }
}
