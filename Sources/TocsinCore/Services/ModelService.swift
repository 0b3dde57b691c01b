/// Reads and writes records of any model: policy, store and events joined.
package struct ModelService: Sendable {
    /// What the service rests on.
    package let environment: ServiceEnvironment
    private let checks: InputChecks

    /// A service for all models of the server.
    package init(environment: ServiceEnvironment) {
        self.environment = environment
        checks = InputChecks(limits: environment.limits)
    }

    /// The record that a key names, or nil when it is absent or somebody else's.
    ///
    /// Refused when no rule lets such a caller read the model at all.
    package func record(_ model: ModelType, key: String, caller: Identity) async throws(ServiceError) -> Record? {
        guard case .allow(let visible) = AccessPolicy.decision(.get, on: model, for: caller) else {
            throw .unauthorized
        }
        let shown = visible.and(shown(model))
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.shown(reader.records(model, ids: [key], where: shown), to: caller, by: .get).first
        }
    }

    /// Ids that one statement looks for: a record may have a megabyte.
    private static let idsAtOnce = 64

    /// Records with these ids that the caller may read; the others are as absent.
    package func records(
        _ model: ModelType,
        ids: [String],
        caller: Identity
    ) async throws(ServiceError) -> [String: Record] {
        guard case .allow(let visible) = AccessPolicy.decision(.read, on: model, for: caller) else { return [:] }
        let unique = Array(Set(ids))
        guard !unique.isEmpty else { return [:] }
        let shown = visible.and(shown(model))
        let limits = environment.limits.examination
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var (found, bytes) = ([Record](), 0)
            for start in stride(from: 0, to: unique.count, by: Self.idsAtOnce) {
                let ids = Array(unique[start..<min(start + Self.idsAtOnce, unique.count)])
                let records = try reader.records(model, ids: ids, where: shown)
                bytes += records.reduce(0) { $0 + $1.approximateBytes }
                guard bytes <= limits.totalBytes else { throw .tooLarge(bytes: limits.totalBytes) }
                found += records
            }
            return found
        }
        return Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A page of records that the caller may read; short where it has examined as much as it may.
    ///
    /// `range` is what an index serves, `filter` what is judged of each record; `fields` are
    /// those that are asked for.
    package func page(
        _ model: ModelType,
        range: Predicate,
        filter: Predicate,
        order: [ModelQuery.Order],
        after: [FieldValue]?,
        limit: Int,
        fields: Set<Int>? = nil,
        caller: Identity
    ) async throws(ServiceError) -> RecordPage {
        guard case .allow(let visible) = seen(.list, of: model, asking: [range, filter], caller) else {
            throw .unauthorized
        }
        // Whose a row is tells whether it is shown whole.
        let fields = model.sharing?.isTopic == true ? fields?.union(visible.positions) : fields
        let query = PageQuery(
            model,
            range: range,
            visible: visible,
            filter: shown(model).and(filter),
            order: order,
            after: after,
            limit: limit,
            fields: fields
        )
        let limits = environment.limits.examination
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var page = try reader.pages([query], limits)[0]
            page.records = try reader.shown(page.records, to: caller, by: .list)
            return page
        }
    }

    /// What the caller may see where these conditions are asked; who sees only the names of topics
    /// learns nothing else of them by conditions.
    func seen(
        _ operation: AccessRule.Operation,
        of model: ModelType,
        asking conditions: [Predicate],
        _ caller: Identity
    ) -> AccessDecision {
        guard model.sharing?.isTopic == true,
            !conditions.allSatisfy({ $0.positions.isSubset(of: model.facePositions) })
        else { return AccessPolicy.decision(operation, on: model, for: caller) }
        return AccessPolicy.decision(operation, on: model, for: caller, granting: .reading)
    }

    /// What reads beside `sync` show of a model.
    func shown(_ model: ModelType) -> Predicate {
        guard environment.models.hidesDeleted, let deleted = model.knownPositions.deleted else { return .always }
        return .field(deleted, .notEqual(.bool(true)))
    }

    /// Creates a record; repeating a create with the same id and content
    /// answers with the stored record.
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
        try environment.takeStorage(for: input, of: model, by: caller)
        let environment = environment
        var input = input
        let id = try key(of: model, completing: &input)
        let completed = input
        return try await environment.store.writing { writer throws(StoreError) in
            let (factory, now) = (RecordFactory(model: model), environment.changeTime())
            var (input, record) = (completed, factory.make(completed, id: id, caller: caller, at: now))
            guard permitted.matches(record), caller.mayWrite(completed, .create, to: record) else {
                return .failure(.unauthorized)
            }
            guard condition.matches(Record(model: model)) else { return .failure(.conditionFailed(nil)) }
            let hook = environment.hooks[model.name]
            let write = HookedWrite(model: model, caller: caller, now: now, writer: writer)
            if let hook {
                if let refusal = try hook.willCreate(&input, write) { return .failure(refusal) }
                record = factory.make(input, id: id, caller: caller, at: now)
            }
            if let stored = try writer.insert(record) {
                return factory.outcome(ofRepeating: input, stored: stored, caller: caller)
            }
            try hook?.didWrite(record, write)
            writer.note(.created(record))
            return .success(record)
        }
    }

    /// The key of a record to be made; an `id` that is part of it is made when none is given.
    private func key(of model: ModelType, completing input: inout RecordInput) throws(ServiceError) -> String {
        if model.keyFields.contains("id"), input["id"]?.text == nil {
            input["id"] = .text(environment.identifiers.makeID())
        }
        guard let key = model.key(of: { input[$0] ?? .null }) else {
            throw .badInput("The key of \(model.name) needs \(model.keyFields.joined(separator: " and ")).")
        }
        guard key.utf8.count <= environment.limits.recordKeyBytes else {
            throw .badRequest("The key of a \(model.name) may have \(environment.limits.recordKeyBytes) bytes.")
        }
        return key
    }

    /// Changes a record; the order of checks is owner, version, condition, as in AppSync.
    ///
    /// `lasting` names fields that keep their first value.
    package func update(
        _ model: ModelType,
        _ input: RecordInput,
        guarded: WriteGuard,
        lasting: Set<String> = [],
        caller: Identity
    ) async throws(ServiceError) -> Record {
        try checks.check(input, of: model)
        try environment.takeStorage(for: input, of: model, by: caller)
        let environment = environment
        let isMerging = environment.models.conflictHandler == .automerge
        let record = try await change(model, .update, guarded, caller) { stored, condition, roles in
            guard caller.mayWrite(input, .update, to: stored), caller.mayMove(stored, by: input) else {
                return .failure(.unauthorized)
            }
            for name in lasting.sorted() {
                guard let value = input[name], value != stored[name] else { continue }
                return .failure(.badRequest("\(name) of a \(model.name) cannot be changed; create a new one."))
            }
            let expected = guarded.expected(of: stored, environment.models)
            let fits = expected == stored.version
            guard !stored.isDeleted, fits || isMerging else {
                return .failure(Self.conflict(of: stored, expected: expected, caller, roles))
            }
            if let refusal = condition.refusal(of: stored) { return .failure(refusal) }
            let factory = RecordFactory(model: model)
            let now = environment.changeTime()
            let record =
                fits ? factory.changed(stored, by: input, at: now) : factory.merged(stored, with: input, at: now)
            return .success(.updated(record))
        }
        note(record, mergedWith: guarded)
        return record
    }

    /// Tells of an update that was merged, as its version shows.
    private func note(_ record: Record, mergedWith guarded: WriteGuard) {
        let named = guarded.version ?? 0
        let isForAny = guarded.version == nil && environment.models.takesAbsentVersion
        guard let listener = environment.staleMerges, named != record.version - 1, !isForAny else { return }
        listener(
            StaleMerge(
                model: record.model.name,
                id: record.id,
                namedVersion: named,
                storedVersion: record.version - 1
            )
        )
    }

    /// Turns a record into its tombstone.
    package func delete(
        _ model: ModelType,
        guarded: WriteGuard,
        caller: Identity
    ) async throws(ServiceError) -> Record {
        let environment = environment
        return try await change(model, .delete, guarded, caller) { stored, condition, roles in
            let expected = guarded.expected(of: stored, environment.models)
            guard expected == stored.version else {
                return .failure(Self.conflict(of: stored, expected: expected, caller, roles))
            }
            if let refusal = condition.refusal(of: stored) { return .failure(refusal) }
            return .success(.deleted(RecordFactory(model: model).tombstone(of: stored, at: environment.changeTime())))
        }
    }

    private static func conflict(
        of stored: Record,
        expected: Int64,
        _ caller: Identity,
        _ roles: GrantedRoles
    ) -> ServiceError {
        .versionConflict(stored.shown(to: caller, roles), expected: expected, actual: stored.version)
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
        _ decide: @escaping @Sendable (Record, JudgedCondition, GrantedRoles) -> Result<Change, ServiceError>
    ) async throws(ServiceError) -> Record {
        guard case .allow(let permitted) = AccessPolicy.decision(operation, on: model, for: caller) else {
            throw .unauthorized
        }
        let condition = try await judged(guarded, of: model, where: permitted, caller)
        return try await environment.store.writing { writer throws(StoreError) in
            guard let stored = try writer.records(model, ids: [guarded.id], where: permitted).first else {
                return .failure(.unauthorized)
            }
            // A condition is a question about the record: it is answered to who may read that.
            let roles = try writer.roles(askedBy: permitted, of: stored)
            guard guarded.condition == .always || stored.shown(to: caller, roles) != nil else {
                return .failure(.unauthorized)
            }
            let hook = environment.hooks[model.name]
            let write = HookedWrite(
                model: model,
                caller: caller,
                now: environment.changeTime(),
                writer: writer
            )
            switch decide(stored, condition, roles) {
            case .failure(let refusal): return .failure(refusal)
            case .success(.updated(var record)):
                if let refusal = try hook?.willUpdate(&record, was: stored, write) { return .failure(refusal) }
                if model.name == "Topic" {
                    let names = TopicNames(model, environment.models)
                    let taken = try names?.refusal(of: record, was: stored, caller: caller, writer)
                    if let taken { return .failure(taken) }
                }
                try writer.update(record)
                try hook?.didWrite(record, write)
                writer.note(.updated(record))
                return .success(record)
            case .success(.deleted(let record)):
                if let refusal = try hook?.willDelete(stored, write) { return .failure(refusal) }
                try writer.update(record)
                try hook?.didWrite(record, write)
                if model.name == "Topic" { try writer.record(deletion(of: record, by: caller)) }
                writer.note(.deleted(record))
                return .success(record)
            }
        }
    }

    private func deletion(of topic: Record, by caller: Identity) -> AuditEvent {
        environment.audit(
            action: "topic.delete",
            by: caller,
            on: .topic(TopicID(topic.id)),
            detail: ["name": topic["name"].text.map { .text($0) }]
        )
    }

    /// The condition of a write; one that searches texts is judged on the record as it is read now.
    private func judged(
        _ guarded: WriteGuard,
        of model: ModelType,
        where permitted: Predicate,
        _ caller: Identity
    ) async throws(ServiceError) -> JudgedCondition {
        let condition = JudgedCondition(guarded.condition, maximumBytes: environment.limits.conditionSearchBytes)
        guard condition.isSearch else { return condition }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var condition = condition
            // On the reader, in the caller's turn: the event loop serves others meanwhile.
            if let stored = try reader.records(model, ids: [guarded.id], where: permitted).first {
                condition.judge(stored)
            }
            return condition
        }
    }
}

extension StoreReader {
    /// What grants give that a predicate asks about a record; nothing is read where it holds
    /// without.
    func roles(askedBy predicate: Predicate, of record: Record) throws(StoreError) -> GrantedRoles {
        guard let question = predicate.grantQuestions.first, let topic = question.topic(of: record),
            !predicate.matches(record)
        else { return GrantedRoles() }
        return try roles(of: question.subjects, in: [topic])
    }
}

extension Identity {
    /// Whether the caller may write what an input says of owners: whoever changes a record by a
    /// grant says nothing of them, nor of where the record stands.
    fileprivate func mayMove(_ record: Record, by input: RecordInput) -> Bool {
        let model = record.model
        guard let sharing = model.sharing,
            case .allow(let permitted) = AccessPolicy.decision(.update, on: model, for: self),
            !permitted.matches(record)
        else { return true }
        return (model.ownerRules.map(\.field) + sharing.lasting).allSatisfy { name in
            input[name].map { $0.hasBytes(of: record[name]) } ?? true
        }
    }

    /// Whether the rules of single fields let the caller write what the input gives.
    package func mayWrite(_ input: RecordInput, _ operation: AccessRule.Operation, to record: Record) -> Bool {
        record.model.fieldRules.keys.allSatisfy { position in
            guard input[record.model.fields[position].name] != nil else { return true }
            switch AccessPolicy.decision(operation, onField: position, of: record.model, for: self) {
            case nil: return true
            case .deny?: return false
            case .allow(let permitted)?: return permitted.matches(record)
            }
        }
    }
}

/// What must hold of the stored record before it is changed.
package struct WriteGuard: Sendable, Hashable {
    /// The record's key.
    package var id: String
    /// The version that the caller knows; nil when none was sent.
    package var version: Int64?
    /// What must hold of the stored record; `always` when the client gave no condition.
    package var condition: Predicate

    /// A guard of the record with this key; without a version it is for version 0 (`expected`).
    package init(id: String, version: Int64? = nil, condition: Predicate = .always) {
        self.id = id
        self.version = version
        self.condition = condition
    }

    /// The version that the stored record must have: without one it is 0, which no record has,
    /// unless settings say otherwise.
    ///
    /// A tombstone is never changed blindly.
    fileprivate func expected(of stored: Record, _ settings: ModelSettings) -> Int64 {
        version ?? (settings.takesAbsentVersion && !stored.isDeleted ? stored.version : 0)
    }
}
