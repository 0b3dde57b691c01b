/// Takes pings of monitors and looks at what has not come.
package struct MonitorService: Sendable {
    let environment: ServiceEnvironment
    /// The model `Monitor`.
    package let model: ModelType
    /// The model `Incident`; nil: there are none.
    private let incidents: ModelType?
    private let intake: any DecidingIntake
    /// The keys of monitors.
    package let keys: IntegrationService
    /// The ways in of kind HEARTBEAT.
    private let integrations: IntegrationService
    private let models: ModelService

    /// How often something is begun again that has changed meanwhile.
    private static let maximumRounds = 5
    /// The schedule of a monitor that its first ping makes.
    private static let madeSeconds: (period: Int64, grace: Int64) = (86_400, 3600)

    /// - Parameters:
    ///   - model: The shipped model `Monitor`.
    ///   - incidents: The shipped model `Incident`.
    ///   - intake: Opens and resolves their incidents.
    ///   - keys: The service of keys over the model `Monitor`.
    ///   - integrations: The service of integrations, whose keys may ping too.
    package init(
        environment: ServiceEnvironment,
        model: ModelType,
        incidents: ModelType?,
        intake: any DecidingIntake,
        keys: IntegrationService,
        integrations: IntegrationService
    ) {
        (self.environment, self.model, self.incidents, self.intake) = (environment, model, incidents, intake)
        (self.keys, self.integrations, models) = (keys, integrations, ModelService(environment: environment))
    }

    /// Does something to a monitor; nil where there is none, for whoever does it.
    private func perform(
        _ act: MonitorTurn.Act,
        on id: String,
        where permitted: Predicate,
        for origin: ReadOrigin
    ) async throws(ServiceError) -> Record? {
        let model = model
        for _ in 0..<Self.maximumRounds {
            let seen = try await environment.store.reading(for: origin) { reader throws(StoreError) in
                try reader.records(model, ids: [id], where: permitted).first
            }
            guard let seen, !seen.isDeleted, let plan = MonitorPlan(seen) else { return nil }
            // Calendars are searched here: nobody waits for this task.
            let now = environment.time.now()
            let turn = MonitorTurn(
                act: act,
                model: model,
                permitted: permitted,
                plan: plan,
                next: plan.schedule.next(after: now, zones: environment.zones),
                now: now,
                changeTime: environment.changeTime()
            )
            switch try await outcome(of: turn) {
            case .done(let record): return record
            case .gone: return nil
            case .changed, .hasNews: continue
            }
        }
        throw .unavailable("the monitor changes all the time")
    }

    private func outcome(of turn: MonitorTurn) async throws(ServiceError) -> MonitorTurn.Outcome {
        let outcome = try await environment.store.writing { writer throws(StoreError) in
            .success(try turn.take(writer, tellsNews: false).0)
        }
        guard case .hasNews = outcome else { return outcome }
        do throws(ServiceError) {
            return try await intake.take(from: turn.plan.integration) { writer throws(StoreError) in
                let (outcome, events) = try turn.take(writer, tellsNews: true)
                return (events, outcome)
            }
        } catch .unauthorized {
            // Its owner may not publish to the topic any more, or it is gone: nobody is told.
            return try await environment.store.writing { writer throws(StoreError) in
                .success(try turn.take(writer, tellsNews: true).0)
            }
        }
    }

    /// Looks at a monitor whose time has come; where there is none, its timer goes.
    func look(_ timer: TimerEntry) async throws(ServiceError) {
        let found = try await perform(.look(timer), on: timer.subject, where: .always, for: .server)
        guard found == nil else { return }
        try await environment.store.writing { writer throws(StoreError) in
            _ = try writer.claim(timer)
            return .success(())
        }
    }

    /// Notes that pings can arrive.
    package func noteWatch() async throws(ServiceError) {
        let now = environment.time.now()
        try await environment.store.writing { writer throws(StoreError) in
            let watch = try writer.monitorWatch()
            try writer.save(watch?.seen(at: now) ?? MonitorWatch(seenAt: now))
            return .success(())
        }
    }
}

// Pings of senders.
extension MonitorService {
    /// What became of a sender's ping.
    package enum Taken: Sendable, Equatable {
        /// It is stored.
        case stored(owner: String)
        /// It is stored, and its monitor was made.
        case made(owner: String)
        /// There is no such monitor.
        case unknown
    }

    /// Whose a key is.
    package enum Bearer: Sendable {
        /// A monitor's own.
        case monitor(Record)
        /// An integration's, which may ping all monitors of its owner.
        case integration(Record)

        /// The monitor or the integration.
        package var record: Record {
            switch self {
            case .monitor(let record), .integration(let record): record
            }
        }
    }

    /// Whose a key's text is; nil for any other text: the same is looked up for all.
    package func bearer(ofKey text: String) async throws(ServiceError) -> Bearer? {
        let monitor = try await keys.found(byKey: text)
        let integration = try await integrations.found(byKey: text)
        if let monitor { return .monitor(monitor.record) }
        guard let integration, integration.record["kind"].text == Integration.Kind.heartbeat.rawValue else {
            return nil
        }
        return .integration(integration.record)
    }

    /// Takes a sender's ping.
    ///
    /// - Parameter slug: The monitor among those of one owner; nil where the key is its own.
    package func take(
        _ ping: MonitorPing,
        from bearer: Bearer,
        slug: String?,
        creates: Bool
    ) async throws(ServiceError) -> Taken {
        switch (bearer, slug) {
        case (.monitor(let record), nil): return try await take(ping, on: record.id, of: record.owner ?? "")
        case (.monitor(let record), let slug?) where record["slug"].text == slug:
            return try await take(ping, on: record.id, of: record.owner ?? "")
        case (.monitor, _), (.integration, nil): return .unknown
        case (.integration(let integration), let slug?):
            let owner = integration.owner ?? ""
            if let id = try await monitor(slug: slug, of: owner) { return try await take(ping, on: id, of: owner) }
            guard creates else { return .unknown }
            let (id, isMade) = try await make(slug, for: integration, owner)
            guard let id, case .stored = try await take(ping, on: id, of: owner) else { return .unknown }
            return isMade ? .made(owner: owner) : .stored(owner: owner)
        }
    }

    /// Takes a ping that an alert is, where the monitor is of this owner; false where it is not.
    package func take(_ ping: MonitorPing, on id: String, ofOwner owner: String) async throws(ServiceError) -> Bool {
        guard let position = model.knownPositions.owner else { return false }
        let own = Predicate.field(position, .equal(.text(owner)))
        return try await perform(.ping(ping), on: id, where: own, for: .owner(owner)) != nil
    }

    private func take(_ ping: MonitorPing, on id: String, of owner: String) async throws(ServiceError) -> Taken {
        let found = try await perform(.ping(ping), on: id, where: .always, for: .owner(owner))
        return found == nil ? .unknown : .stored(owner: owner)
    }

    /// The monitor of an owner with a slug.
    private func monitor(slug: String, of owner: String) async throws(ServiceError) -> String? {
        let model = model
        return try await environment.store.reading(for: .owner(owner)) { reader throws(StoreError) in
            try reader.monitor(model, slug: slug, of: owner)?.id
        }
    }

    private func make(
        _ slug: String,
        for integration: Record,
        _ owner: String
    ) async throws(ServiceError) -> (id: String?, isMade: Bool) {
        var user = Identity(userID: OwnerText.userID(of: owner), username: OwnerText.shown(owner))
        // It acts by a key: nothing is learnt from it of who the owner is.
        user.tokenID = TokenID(integration.id)
        let input: RecordInput = [
            "name": .text(slug), "slug": .text(slug), "topicId": integration["topicId"],
            "periodSeconds": .int(Self.madeSeconds.period), "graceSeconds": .int(Self.madeSeconds.grace),
        ]
        do throws(ServiceError) {
            return (try await models.create(model, input, caller: user).id, true)
        } catch .conflicting {
            // Another ping was first.
            return (try await monitor(slug: slug, of: owner), false)
        }
    }
}

extension RecordReading {
    /// The monitor of an owner with a slug.
    func monitor(_ model: ModelType, slug: String, of owner: String) throws(StoreError) -> Record? {
        guard let key = model.position(of: "slug"), let own = model.knownPositions.owner,
            let id = model.position(of: "id")
        else { return nil }
        let query = ModelQuery(
            model: model,
            predicate: .all([.field(own, .equal(.text(owner))), .field(key, .equal(.text(slug)))]),
            order: [ModelQuery.Order(field: id)],
            limit: 100
        )
        return try records(query).first { !$0.isDeleted }
    }
}

// What people do and see.
extension MonitorService {
    /// Pings as a person or program with a token of its user.
    package func ping(_ id: String, _ ping: MonitorPing, caller: Identity) async throws(ServiceError) -> Record {
        if let status = ping.exitStatus, !(0...255).contains(status) {
            throw .badInput("exitStatus must be 0 to 255; it is \(status).")
        }
        return try await changed(.ping(ping), on: id, caller)
    }

    /// Watches no more until a moment; without one, until the next ping.
    package func pause(_ id: String, until end: Timestamp?, caller: Identity) async throws(ServiceError) -> Record {
        try await changed(.pause(until: end), on: id, caller)
    }

    private func changed(
        _ act: MonitorTurn.Act,
        on id: String,
        _ caller: Identity
    ) async throws(ServiceError) -> Record {
        guard InputChecks.mayBeID(id),
            case .allow(let permitted) = AccessPolicy.decision(.update, on: model, for: caller)
        else { throw .unauthorized }
        guard let record = try await perform(act, on: id, where: permitted, for: caller.reads) else {
            throw .unauthorized
        }
        return record
    }

    /// Pings of a monitor that the caller has read, before a number, the latest first.
    package func pings(
        of record: Record,
        before number: Int64,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> [StoredPing] {
        let id = record.id
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.pings(of: id, before: number, limit: limit)
        }
    }

    /// The part of the last days in which monitors that the caller has read were not down; nil: not
    /// watched.
    package func uptimes(
        of records: [Record],
        days: Int64,
        caller: Identity
    ) async throws(ServiceError) -> [Double?] {
        guard (1...MonitorUptime.maximumDays).contains(days) else {
            throw .badInput("days must be 1 to \(MonitorUptime.maximumDays); it is \(days).")
        }
        let (ids, now) = (records.map(\.id), environment.time.now())
        let start = now.adding(seconds: -Double(days) * 86_400)
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var uptimes: [Double?] = []
            for id in ids {
                guard let first = try reader.monitorFacts(id)?.firstPingAt, first < now else {
                    uptimes.append(nil)
                    continue
                }
                let spells = try reader.monitorSpells(of: id, after: start)
                uptimes.append(MonitorUptime.part(of: max(first, start)..<now, without: spells))
            }
            return uptimes
        }
    }

    /// The open incidents of monitors that the caller has read, as far as the caller may read them.
    package func incidents(of records: [Record], caller: Identity) async throws(ServiceError) -> [Record?] {
        guard let incidents else { return records.map { _ in nil } }
        let keys = records.map { record in
            let plan = MonitorPlan(record)
            return (source: plan?.integration.incidentSource ?? "", key: plan?.incidentKey ?? "")
        }
        let ids = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var ids: [String?] = []
            for (source, key) in keys { ids.append(try reader.openIncident(of: source, key: key)) }
            return ids
        }
        let found = try await models.records(incidents, ids: ids.compactMap(\.self), caller: caller)
        return ids.map { id in id.flatMap { found[$0] } }
    }
}
