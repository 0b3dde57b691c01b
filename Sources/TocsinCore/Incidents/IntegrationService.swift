/// Finds integrations by their keys, and makes and ends the keys.
package struct IntegrationService: Sendable {
    let environment: ServiceEnvironment
    let model: ModelType
    let rights: PushRights
    private let models: ModelService
    private let texts: any IntegrationKeyTexts
    private let sealer: any Sealer
    /// What came in and is not written yet.
    package let notes: IntegrationNotes

    private static let maximumOverlapSeconds: Int64 = 30 * 86_400
    private static let maximumSecretBytes = 4096
    /// How long a key that has ended is kept in the list.
    private static let endedKeySeconds = 86_400.0

    /// A service of the model `Integration`.
    package init(
        environment: ServiceEnvironment,
        model: ModelType,
        rights: PushRights,
        texts: any IntegrationKeyTexts,
        sealer: any Sealer,
        notes: IntegrationNotes
    ) {
        (self.environment, self.model, self.rights) = (environment, model, rights)
        (self.texts, self.sealer, self.notes) = (texts, sealer, notes)
        models = ModelService(environment: environment)
    }

    /// The keys of another model's rows, whose owners are asked in the same way.
    package func keys(of model: ModelType) -> IntegrationService {
        IntegrationService(
            environment: environment,
            model: model,
            rights: rights,
            texts: texts,
            sealer: sealer,
            notes: notes
        )
    }

    /// An integration that may be posted to, with what its receiver needs.
    package struct Found: Sendable {
        /// The row.
        package var record: Record
        /// The name of its topic.
        package var topicName: String
        /// What the sender signs with; nil: it does not sign.
        package var signatureSecret: [UInt8]?
    }

    /// The integration that a key's text is good for; nil for any other text, whatever is wrong
    /// with it: the same is looked up for all.
    package func found(byKey text: String) async throws(ServiceError) -> Found? {
        let (digest, now, model, topics) = (texts.digest(of: text), environment.time.now(), model, rights.topics)
        let sealer = sealer
        // Strangers' guesses take turns as a few owners do.
        let origin = ReadOrigin.owner("integration key \(digest.prefix(2))")
        return try await environment.store.reading(for: origin) { reader throws(StoreError) -> Found? in
            let key = try reader.integrationKey(digest: digest)
            let id = key?.integrationID ?? ""
            let record = try reader.records(model, ids: [id], where: .always).first
            let topicID = record?["topicId"].text ?? ""
            let topic = try reader.records(topics, ids: [topicID], where: .always).first
            let account = try reader.account(OwnerText.userID(of: record?.owner ?? ""))
            let secrets = try reader.integrationSecrets(of: id)
            guard let key, key.isGood(at: now), let record, !record.isDeleted, let topic, !topic.isDeleted,
                account?.isDisabled != true
            else { return nil }
            let sealed = secrets[.signature]
            let secret = sealed.flatMap { sealer.open($0, scope: Self.scope(of: .signature, id)) }
            return Found(record: record, topicName: topic["name"].text ?? "", signatureSecret: secret)
        }
    }

    private static func scope(of name: IntegrationSecret, _ id: String) -> String {
        "integration-secret/\(id)/\(name.rawValue)"
    }
}

// Keys.
extension IntegrationService {
    /// Makes a new key; those before it end with the overlap, and of two the older one at once.
    ///
    /// Answers the integration and the key's text, which is stored nowhere.
    package func rotateKey(
        of id: String,
        overlapSeconds: Int64,
        by caller: Identity
    ) async throws(ServiceError) -> (record: Record, topicName: String, text: String) {
        guard (0...Self.maximumOverlapSeconds).contains(overlapSeconds) else {
            throw .badInput("overlapSeconds must be 0 to \(Self.maximumOverlapSeconds); it is \(overlapSeconds).")
        }
        let (text, environment, topics) = (texts.make(), environment, rights.topics)
        let digest = texts.digest(of: text)
        let (record, topicName) = try await changing(id, by: caller) {
            writer,
            record throws(StoreError) -> Result<(Record, String), ServiceError> in
            let now = environment.changeTime()
            let good = try writer.integrationKeys(of: id).filter { $0.isGood(at: now) }
            let end = now.adding(seconds: Double(overlapSeconds))
            for (index, key) in good.enumerated() {
                var key = key
                let isKept = index == good.count - 1
                key.endsAt = isKept ? min(key.endsAt ?? end, end) : now
                try writer.save(key)
            }
            try writer.removeIntegrationKeys(of: id, endedBefore: now.adding(seconds: -Self.endedKeySeconds))
            let hint = String(text.prefix(IntegrationKey.hintLength))
            try writer.save(IntegrationKey(digest: digest, integrationID: id, hint: hint, createdAt: now))
            try writer.record(
                audit(
                    "integration_key.rotate",
                    record,
                    by: caller,
                    ["hint": .text(hint), "overlapSeconds": .int(overlapSeconds)]
                )
            )
            let topic = try writer.unlocked.records(topics, ids: [record["topicId"].text ?? ""], where: .always).first
            return .success((record, topic?["name"].text ?? ""))
        }
        return (record, topicName, text)
    }

    /// Ends the keys that begin so.
    package func revokeKey(of id: String, hint: String, by caller: Identity) async throws(ServiceError) -> Record {
        let environment = environment
        return try await changing(id, by: caller) {
            writer,
            record throws(StoreError) -> Result<Record, ServiceError> in
            let now = environment.changeTime()
            let good = try writer.integrationKeys(of: id).filter { $0.isGood(at: now) }
            let ended = good.filter { $0.hint == hint }
            guard !ended.isEmpty else {
                let hints = good.map(\.hint).joined(separator: ", ")
                return .failure(
                    .badInput(
                        "No good key of this integration begins with that hint. "
                            + (good.isEmpty ? "It has no key." : "Those it has begin with \(hints).")
                    )
                )
            }
            for key in ended {
                var key = key
                key.endsAt = now
                try writer.save(key)
            }
            try writer.record(audit("integration_key.revoke", record, by: caller, ["hint": .text(hint)]))
            return .success(record)
        }
    }

    /// Keeps a secret, sealed, or removes it.
    package func setSecret(
        _ name: IntegrationSecret,
        of id: String,
        to value: String?,
        by caller: Identity
    ) async throws(ServiceError) -> Record {
        if let value, value.isEmpty || value.utf8.count > Self.maximumSecretBytes {
            throw .badInput(
                "value must have 1 to \(Self.maximumSecretBytes) bytes; it has \(value.utf8.count). Give null to remove it."
            )
        }
        let sealed = value.map { sealer.seal(Array($0.utf8), scope: Self.scope(of: name, id)) }
        return try await changing(id, by: caller) {
            writer,
            record throws(StoreError) -> Result<Record, ServiceError> in
            try writer.saveSecret(name, of: id, sealed: sealed)
            try writer.record(
                audit(
                    "integration_secret.set",
                    record,
                    by: caller,
                    ["secret": .text(name.rawValue), "isSet": .bool(sealed != nil)]
                )
            )
            return .success(record)
        }
    }

    /// Writes about an integration that the caller may change; one that is not there is refused
    /// the same.
    private func changing<Value: Sendable>(
        _ id: String,
        by caller: Identity,
        _ body: @escaping @Sendable (any StoreWriter, Record) throws(StoreError) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> Value {
        guard AccessPolicy.mayGiveAccess(caller), InputChecks.mayBeID(id),
            case .allow(let permitted) = AccessPolicy.decision(.update, on: model, for: caller)
        else { throw .unauthorized }
        let model = model
        let facts = UserFacts(of: caller, naming: rights.notedClaims, at: environment.time.now())
        return try await environment.store.writing { writer throws(StoreError) -> Result<Value, ServiceError> in
            guard let record = try writer.records(model, ids: [id], where: permitted).first, !record.isDeleted else {
                return .failure(.unauthorized)
            }
            if let facts { try writer.save(facts) }
            return try body(writer, record)
        }
    }

    private func audit(
        _ action: String,
        _ record: Record,
        by caller: Identity,
        _ detail: AuditDetail
    ) -> AuditEvent {
        var detail = detail
        detail["integration"] = .text(record.id)
        detail["name"] = record["name"].text.map { .text($0) }
        return environment.audit(
            action: action,
            by: caller,
            on: .topic(TopicID(record["topicId"].text ?? "")),
            detail: detail
        )
    }
}

// What came in.
extension IntegrationService {
    /// What is known of an integration beside its row.
    package struct Facts: Sendable {
        /// The hints of its good keys, the newest first.
        package var hints: [String]
        /// The secrets that are set.
        package var secrets: [IntegrationSecret]
        /// What came in.
        package var counts: IntegrationCounts
        /// The name of its topic.
        package var topicName: String
    }

    /// What is known of rows that the caller may read, in their order.
    package func facts(of records: [Record], caller: Identity) async throws(ServiceError) -> [Facts] {
        try await notes.write(to: environment.store)
        let (now, topics) = (environment.time.now(), rights.topics)
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var facts: [Facts] = []
            for record in records {
                let id = record.id
                let keys = try reader.integrationKeys(of: id).filter { $0.isGood(at: now) }
                let topic = try reader.records(topics, ids: [record["topicId"].text ?? ""], where: .always).first
                facts.append(
                    Facts(
                        hints: keys.reversed().map(\.hint),
                        secrets: try reader.integrationSecrets(of: id).keys.sorted { $0.rawValue < $1.rawValue },
                        counts: try reader.integrationCounts(of: id) ?? IntegrationCounts(integrationID: id),
                        topicName: topic?["name"].text ?? ""
                    )
                )
            }
            return facts
        }
    }

    /// The last requests of a row, for who may change it; none for others.
    package func recent(_ record: Record, limit: Int64, caller: Identity) async throws(ServiceError)
        -> [ReceivedRequest]
    {
        guard (1...100).contains(limit) else { throw .badInput("limit must be 1 to 100; it is \(limit).") }
        guard case .allow(let permitted) = AccessPolicy.decision(.update, on: model, for: caller) else { return [] }
        try await notes.write(to: environment.store)
        let oldest = environment.time.now().adding(seconds: -ReceivedRequest.keptSeconds)
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            guard permitted.matches(record, try reader.roles(askedBy: permitted, of: record)) else { return [] }
            return try reader.receivedRequests(of: record.id, limit: Int(limit)).filter { $0.at >= oldest }
        }
    }
}

// What would come in.
extension IntegrationService {
    /// The integration with this id that the caller may change; nil for any other.
    package func changeable(_ id: String, caller: Identity) async throws(ServiceError) -> Record? {
        guard InputChecks.mayBeID(id),
            case .allow(let permitted) = AccessPolicy.decision(.update, on: model, for: caller)
        else { return nil }
        let model = model
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.records(model, ids: [id], where: permitted).first.flatMap { $0.isDeleted ? nil : $0 }
        }
    }

    /// A preview with the topics as its integration's owner may publish to them now: what would go
    /// elsewhere goes to the integration's own, with a problem that says so.
    package func judged(
        _ preview: ReceiverPreview,
        of record: Record,
        caller: Identity
    ) async throws(ServiceError) -> ReceiverPreview {
        let own = TopicID(record["topicId"].text ?? "")
        let wanted = Set(preview.topics).subtracting([own])
        guard !wanted.isEmpty else { return preview }
        let (rights, now) = (rights, environment.time.now())
        let publishable = try await environment.store.reading(for: caller.reads) {
            reader throws(StoreError) -> Set<TopicID> in
            guard let owner = try rights.person(ofOwner: record.owner ?? "", at: now, reader) else { return [] }
            var found: Set<TopicID> = []
            for topic in wanted where try rights.publishableTopic(topic.text, for: owner, reader) != nil {
                found.insert(topic)
            }
            return found
        }
        var judged = preview
        judged.topics = preview.topics.map { $0 == own || publishable.contains($0) ? $0 : own }
        let lost = wanted.subtracting(publishable).sorted { $0.text < $1.text }
        judged.problems += lost.map { IntegrationRoute.note(of: $0) + "." }
        return judged
    }
}

// A token's own.
extension IntegrationService {
    /// The integration of a user's token for a topic that it may publish to, made at its first
    /// post; nil where there is no such topic for the caller.
    package func own(
        of caller: Identity,
        in topic: String,
        kind: Integration.Kind
    ) async throws(ServiceError) -> Found? {
        guard caller.isPerson, let topic = try await publishableTopic(topic, caller) else { return nil }
        let token = caller.tokenID?.text ?? caller.userID.text
        // What was deleted stays deleted: the next one has another id.
        for round in 0..<Self.maximumOwn {
            let derived = DerivedUUID.text(of: "integration \(token)", "\(topic.id) \(kind.rawValue) \(round)")
            // 36 characters, which all servers let ids have.
            let id = Integration.idPrefixOfTokens + derived.filter { $0 != "-" }
            let model = model
            let stored = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
                try reader.records(model, ids: [id], where: .always).first
            }
            if stored?.isDeleted == true { continue }
            let record: Record
            if let stored {
                record = stored
            } else {
                record = try await make(id, kind, topic, caller)
            }
            return Found(record: record, topicName: topic["name"].text ?? "", signatureSecret: nil)
        }
        return nil
    }

    private static let maximumOwn = 8

    private func make(
        _ id: String,
        _ kind: Integration.Kind,
        _ topic: Record,
        _ caller: Identity
    ) async throws(ServiceError) -> Record {
        let input: RecordInput = [
            "id": .text(id), "name": .text("\(caller.username): \(kind.rawValue.lowercased())"),
            "kind": .text(kind.rawValue), "topicId": .text(topic.id),
        ]
        // The token may publish there; that a row says so is the server's doing.
        var user = caller
        user.scope = .full
        do throws(ServiceError) {
            return try await models.create(model, input, caller: user)
        } catch .conflict(let record?) {
            // Another post was first.
            return record
        }
    }

    /// The topic of this id or name that a caller may publish to, their own before others'.
    private func publishableTopic(_ text: String, _ caller: Identity) async throws(ServiceError) -> Record? {
        guard !text.isEmpty,
            case .allow(let publishable) = AccessPolicy.decision(.read, on: rights.topics, for: caller),
            case .allow(let creatable) = AccessPolicy.decision(.create, on: rights.messages, for: caller),
            let id = rights.topics.position(of: "id"), let name = rights.topics.position(of: "name")
        else { return nil }
        let (topics, messages) = (rights.topics, rights.messages)
        let wanted = Predicate.any([.field(id, .equal(.text(text))), .field(name, .equal(.text(text)))])
        let query = ModelQuery(
            model: topics,
            predicate: publishable.and(wanted),
            order: [ModelQuery.Order(field: id)],
            limit: 20
        )
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) -> Record? in
            let found = try reader.records(query).filter { !$0.isDeleted }
            let subjects = creatable.grantQuestions.first?.subjects ?? []
            var granted: [Record] = []
            for topic in found {
                var probe = Record(model: messages)
                if let position = messages.knownPositions.topic { probe.values[position] = .text(topic.id) }
                if let position = messages.knownPositions.owner { probe.values[position] = .text(caller.owner) }
                if publishable.withoutGrants.matches(topic), creatable.withoutGrants.matches(probe) { return topic }
                let roles = try reader.roles(of: subjects, in: [TopicID(topic.id)])
                guard !roles.roles(of: subjects, in: TopicID(topic.id)).isDisjoint(with: .publishing) else { continue }
                if creatable.settled(granted: true).matches(probe) { granted.append(topic) }
            }
            return granted.first
        }
    }
}
