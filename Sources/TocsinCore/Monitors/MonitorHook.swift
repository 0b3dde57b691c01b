/// What a monitor must be before it is written: its schedule means something, its owner may publish
/// to its topic, and only the server says how it stands.
package struct MonitorHook: ModelHook {
    /// The model's name.
    package var model: String { monitors.name }
    private let monitors: ModelType
    private let rights: PushRights
    private let zones: any ZoneSource

    /// Monitors of one owner.
    package static let maximumOfOwner = 1000
    private static let maximumNameBytes = 256
    private static let year: Int64 = 365 * 86_400
    /// Words that say in an address what a ping says.
    private static let signals: Set<String> = ["start", "fail", "log"]

    /// A hook that knows who may publish where, and the zones of cron lines.
    package init(of monitors: ModelType, rights: PushRights, zones: any ZoneSource) {
        (self.monitors, self.rights, self.zones) = (monitors, rights, zones)
    }

    /// Checks all values, that the slug is free, and how many there are; who shares the topic may
    /// look after it too.
    package func willCreate(_ input: inout RecordInput, _ write: HookedWrite) throws(StoreError) -> ServiceError? {
        let given = input
        if let problem = problem({ given[$0] ?? .null }) { return .badInput(problem) }
        let id = given["topicId"]?.text ?? ""
        guard let topic = try rights.publishableTopic(id, for: write.caller, write.writer.unlocked) else {
            return Self.unknownTopic
        }
        if let refusal = try room(for: given["slug"]?.text ?? "", write) { return refusal }
        if let owner = topic.owner, owner != write.caller.owner, input["editors"].map(\.isNull) ?? true {
            input["editors"] = JSONListText.list(of: owner)
        }
        for name in MonitorCase.ownFields { input[name] = .null }
        input["state"] = .text(MonitorState.new.rawValue)
        return nil
    }

    /// Checks all values; another schedule counts from now on.
    package func willUpdate(
        _ record: inout Record,
        was stored: Record,
        _ write: HookedWrite
    ) throws(StoreError) -> ServiceError? {
        let changed = record
        if let problem = problem({ changed[$0] }) { return .badInput(problem) }
        guard record["slug"] == stored["slug"] else {
            return .badInput("slug cannot be changed: senders ping it, and its incidents have it in their keys.")
        }
        if record["topicId"] != stored["topicId"] {
            guard stored["state"].text != MonitorState.down.rawValue else {
                return .conflicting(
                    "topicId cannot be changed while the monitor is DOWN: its incident is there. Pause it first."
                )
            }
            let id = record["topicId"].text ?? ""
            guard let topic = try rights.publishableTopic(id, for: write.caller, write.writer.unlocked) else {
                return Self.unknownTopic
            }
            let editors = try rights.editors(of: record, was: stored, movedTo: topic, write.writer.unlocked)
            if let editors { record["editors"] = editors }
        }
        for name in MonitorCase.ownFields { record[name] = stored[name] }
        try reschedule(&record, was: stored, write)
        return nil
    }

    /// What hangs on a monitor goes with it: its key ends at once.
    ///
    /// Of a provider's people it is kept who they are: each event asks whether its owner may
    /// publish.
    package func didWrite(_ record: Record, _ write: HookedWrite) throws(StoreError) {
        guard record.isDeleted else {
            let facts = UserFacts(of: write.caller, naming: rights.notedClaims, at: write.now)
            if let facts { try write.writer.save(facts) }
            return
        }
        try write.writer.removeMonitorRows(of: record.id)
        try write.writer.removeIntegrationRows(of: record.id)
        try write.writer.removeTimer(.monitor, of: record.id)
    }

    private static let unknownTopic = ServiceError.badInput(
        "topicId names no topic that you may publish to. A monitor's incidents are made in your name."
    )

    /// Sets what is due by the new schedule and rules.
    private func reschedule(_ record: inout Record, was stored: Record, _ write: HookedWrite) throws(StoreError) {
        guard let plan = MonitorPlan(record), let before = MonitorPlan(stored),
            plan.schedule != before.schedule || plan.rules != before.rules
        else { return }
        let facts = try write.writer.monitorFacts(record.id) ?? MonitorFacts()
        var monitor = MonitorCase(record: record, facts: facts)
        var standing = monitor.standing
        let machine = MonitorMachine(plan.rules)
        machine.reschedule(&standing, next: plan.schedule.next(after: write.now, zones: zones))
        let values = MonitorCase.values(of: standing)
        for name in MonitorCase.ownFields { record[name] = values[name] ?? .null }
        monitor.standing = standing
        if let timer = monitor.timer(machine, standing) {
            try write.writer.set(timer)
        } else {
            try write.writer.removeTimer(.monitor, of: record.id)
        }
        try write.writer.save(monitor.facts, of: record.id)
    }

    /// Whether one more may be made with this slug; others of the owner wait.
    private func room(for slug: String, _ write: HookedWrite) throws(StoreError) -> ServiceError? {
        let owner = write.caller.owner
        try write.writer.holdTopics(of: owner)
        let model = monitors
        if try write.writer.unlocked.monitor(model, slug: slug, of: owner) != nil {
            return .conflicting("You have a monitor with the slug \(slug) already.")
        }
        guard let own = model.knownPositions.owner, let id = model.position(of: "id") else { return nil }
        let deleted = model.knownPositions.deleted.map { Predicate.field($0, .notEqual(.bool(true))) } ?? .always
        let query = ModelQuery(
            model: model,
            predicate: Predicate.field(own, .equal(.text(owner))).and(deleted),
            order: [ModelQuery.Order(field: id)],
            limit: Self.maximumOfOwner
        )
        guard try write.writer.unlocked.records(query).count < Self.maximumOfOwner else {
            return .limit("You have \(Self.maximumOfOwner) monitors, as many as anybody may. Delete some.")
        }
        return nil
    }
}

// What values mean something.
extension MonitorHook {
    /// What is wrong with the values of a monitor, by field, and what to write; nil: nothing.
    private func problem(_ value: (String) -> FieldValue) -> String? {
        problem(ofNames: value) ?? problem(ofNumbers: value) ?? problem(ofSchedule: value)
    }

    private func problem(ofNames value: (String) -> FieldValue) -> String? {
        guard let name = value("name").text, !name.isEmpty, name.utf8.count <= Self.maximumNameBytes else {
            return "name must have 1 to \(Self.maximumNameBytes) bytes: what people call the monitor."
        }
        guard let slug = value("slug").text, Self.isSlug(slug) else {
            return
                "slug must have 1 to 100 small letters, digits, - and _, and must not be start, fail, log or a number "
                + "up to 255, which say something else in an address. Write one such as nightly-backup."
        }
        return nil
    }

    private static func isSlug(_ text: String) -> Bool {
        guard (1...100).contains(text.utf8.count), !signals.contains(text) else { return false }
        let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !isNumber || text.utf8.count > 3 || Int(text) ?? 0 > 255 else { return false }
        return text.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "_")
        }
    }

    private func problem(ofNumbers value: (String) -> FieldValue) -> String? {
        let ranges: [(String, ClosedRange<Int64>)] = [
            ("priority", 1...5), ("periodSeconds", 10...Self.year), ("graceSeconds", 5...Self.year),
            ("maxRunSeconds", 0...Self.year), ("failures", 1...100), ("successes", 1...100),
        ]
        for (name, range) in ranges {
            if let number = value(name).int, !range.contains(number) {
                return "\(name) must be \(range.lowerBound) to \(range.upperBound); it is \(number)."
            }
        }
        return nil
    }

    private func problem(ofSchedule value: (String) -> FieldValue) -> String? {
        let (period, cron, zone) = (value("periodSeconds").int, value("cron").text, value("timeZone").text)
        guard (period == nil) != (cron == nil) else {
            return "A monitor has either periodSeconds or cron: how often its pings come, or at what times."
        }
        guard let cron else {
            return zone == nil ? nil : "timeZone is of monitors with cron; this one has periodSeconds."
        }
        if let zone, !ZoneName.mayBe(zone) || zones.zone(named: zone) == nil {
            return "timeZone names no zone that the server knows; write one such as Europe/Berlin, or UTC."
        }
        do throws(CronProblem) {
            _ = try CronLine(cron)
            return nil
        } catch {
            return error.text + "."
        }
    }
}
