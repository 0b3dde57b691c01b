/// One thing that is done to a monitor, under its lock.
struct MonitorTurn: Sendable {
    /// What is done.
    enum Act: Sendable {
        case ping(MonitorPing)
        case look(TimerEntry)
        case pause(until: Timestamp?)
    }

    /// What became of it.
    enum Outcome: Sendable {
        case done(Record)
        /// There is no such monitor.
        case gone
        /// It has changed since it was read: nothing was written.
        case changed
        /// It has news, which are told in a transaction of the topic: nothing was written.
        case hasNews
    }

    let act: Act
    let model: ModelType
    /// Who may do this.
    let permitted: Predicate
    /// What was read before, without a lock.
    let plan: MonitorPlan
    /// When a success is due that is counted from now.
    let next: Timestamp?
    let now: Timestamp
    let changeTime: Timestamp

    /// How long spells are looked back upon.
    private static let keptSpellSeconds = Double(MonitorUptime.maximumDays + 1) * 86_400

    /// Does it; answers the events of its news, where they may be told here.
    func take(_ writer: any StoreWriter, tellsNews: Bool) throws(StoreError) -> (Outcome, [SenderEvent]) {
        guard let record = try writer.records(model, ids: [plan.id], where: permitted).first, !record.isDeleted else {
            if case .look(let timer) = act { _ = try writer.claim(timer) }
            return (.gone, [])
        }
        guard MonitorPlan(record) == plan else { return (.changed, []) }
        var monitor = MonitorCase(record: record, facts: try writer.monitorFacts(plan.id) ?? MonitorFacts())
        if case .look(let timer) = act, timer.generation != monitor.facts.generation {
            // Another timer stands for it.
            _ = try writer.claim(timer)
            return (.done(record), [])
        }
        let (machine, before) = (MonitorMachine(plan.rules), monitor.standing)
        var (standing, stored) = (before, StoredPing?.none)
        let news: MonitorNews?
        switch act {
        case .ping(let ping):
            let taken = machine.take(ping, on: &standing, at: now, next: next)
            news = taken.news
            stored = StoredPing(
                number: monitor.facts.lastPing + 1,
                at: now,
                ping,
                durationMilliseconds: taken.durationMilliseconds
            )
        case .look:
            if let gap = try writer.unlocked.monitorWatch()?.seen(at: now).gap {
                machine.forgive(&standing, from: gap.lowerBound, to: gap.upperBound)
            }
            news = machine.pass(&standing, at: now, next: next)
        case .pause(let end): news = machine.pause(&standing, until: end, at: now, next: next)
        }
        guard news == nil || tellsNews else { return (.hasNews, []) }
        if case .look(let timer) = act, try !writer.claim(timer) { return (.done(record), []) }
        if let stored {
            monitor.facts.lastPing = stored.number
            try writer.insert(stored, of: plan.id, keeping: MonitorPing.keptOfMonitor)
        }
        try save(&monitor, standing, before, machine, writer)
        return (.done(monitor.record), news.map { [plan.event(of: $0, at: now)] } ?? [])
    }

    private func save(
        _ monitor: inout MonitorCase,
        _ standing: MonitorStanding,
        _ before: MonitorStanding,
        _ machine: MonitorMachine,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        monitor.standing = standing
        let values = MonitorCase.values(of: standing)
        if standing != before {
            let factory = RecordFactory(model: model)
            monitor.record = factory.changed(monitor.record, by: values, at: changeTime)
            try writer.update(monitor.record)
            writer.note(.updated(monitor.record))
        }
        try noteSpell(&monitor, standing.state, before.state, writer)
        if let timer = monitor.timer(machine, standing) {
            try writer.set(timer)
        } else {
            try writer.removeTimer(.monitor, of: plan.id)
        }
        try writer.save(monitor.facts, of: plan.id)
    }

    /// Notes when a monitor goes down or is paused, and when that ends.
    private func noteSpell(
        _ monitor: inout MonitorCase,
        _ state: MonitorState,
        _ before: MonitorState,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        guard state != before else { return }
        let oldest = now.adding(seconds: -Self.keptSpellSeconds)
        if let began = monitor.facts.spellBeganAt {
            let ended = MonitorSpell(beganAt: began, endedAt: max(began, now), isPause: before == .paused)
            try writer.save(ended, of: plan.id, removingEndedBefore: oldest)
            monitor.facts.spellBeganAt = nil
        }
        guard state == .down || state == .paused else { return }
        let spell = MonitorSpell(beganAt: now, endedAt: nil, isPause: state == .paused)
        try writer.save(spell, of: plan.id, removingEndedBefore: oldest)
        monitor.facts.spellBeganAt = now
    }
}
