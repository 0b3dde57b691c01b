/// Wakes, settles, ends and tells of incidents when that is due.
package struct IncidentEffect: TimerEffect {
    private let book: IncidentBook

    /// - Parameter book: The incidents of the server.
    package init(_ book: IncidentBook) { self.book = book }

    /// The timers of incidents.
    package let kinds: Set<TimerEntry.Kind> = [.wake, .settle, .autoResolve, .titleUpdate]

    /// Claims the timer and does what it asks for, under the lock of the incident's topic.
    package func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) {
        let book = book
        try await book.environment.store.writing { writer throws(StoreError) in
            .success(try book.fire(timer, writer))
        }
    }
}

extension IncidentBook {
    fileprivate func fire(_ timer: TimerEntry, _ writer: any StoreWriter) throws(StoreError) {
        let reader = writer.unlocked
        guard let model, let seen = try reader.records(model, ids: [timer.subject], where: .always).first,
            let topic = try reader.records(topics, ids: [seen["topicId"].text ?? ""], where: .always).first,
            !topic.isDeleted
        else {
            _ = try writer.claim(timer)
            return
        }
        let author = Identity(ownerText: topic.owner ?? "")
        let turn = try IncidentTurn(self, topic, by: author, writer)
        guard var incident = try turn.incident(timer.subject), try writer.claim(timer) else { return }
        switch timer.kind {
        case .wake: try turn.change(.wake, of: &incident)
        case .settle: try turn.reopen(timer.payload, &incident)
        case .autoResolve: try turn.endUnlessHeardOf(timer, &incident)
        case .titleUpdate:
            guard incident.standing.state != .resolved else { break }
            _ = try turn.tell(.updated, .quiet, by: IncidentTurn.time, of: &incident)
            try turn.saveFacts(of: incident)
        default: break
        }
        try turn.end()
    }
}

extension IncidentTurn {
    /// What was waited for counts, however long that took.
    private static let everSeconds = 3_650 * 86_400

    /// Whoever lets timers fire.
    fileprivate static let time = IncidentActor(nil, via: .timeout)

    fileprivate func change(_ act: IncidentAct, of incident: inout IncidentCase) throws(StoreError) {
        let rules = IncidentRules(reopenSeconds: Self.everSeconds, notifyResolved: incident.memory.notifyResolved)
        guard
            case .changes(let standing, let change, let loudness) = IncidentMachine(rules: rules)
                .outcome(act, on: incident.standing, at: now)
        else { return }
        var written = Change(standing: standing, change: change, loudness: loudness, actor: Self.time)
        written.values = values(of: change, by: Self.time)
        if change == .reopened {
            let counts = try writer.alertCounts(of: incident.id)
            written.values["firingCount"] = .int(counts.firing)
        }
        _ = try write(written, to: &incident)
    }

    /// Opens an incident again of which nobody has said that it is over.
    fileprivate func reopen(_ payload: String, _ incident: inout IncidentCase) throws(StoreError) {
        guard incident.standing.state == .resolved, try !isKeyTaken(of: incident) else { return }
        let fingerprints = payload.split(separator: "\n").map(String.init)
        let alerts = try writer.incidentAlerts(of: incident.id, fingerprints: fingerprints).map { alert in
            var alert = alert
            (alert.resolvedAt, alert.endsAt) = (nil, nil)
            return alert
        }
        try writer.save(alerts, of: incident.id, source: incident.facts.source)
        let (title, priority) = (incident.standing.title, incident.standing.priority)
        try change(.trigger(IncidentTrigger(title: title, priority: priority)), of: &incident)
    }

    /// Ends an incident of which nothing was heard for so long.
    fileprivate func endUnlessHeardOf(_ timer: TimerEntry, _ incident: inout IncidentCase) throws(StoreError) {
        let seconds = Double(timer.payload) ?? 0
        let last = incident.record["lastEventAt"].text.flatMap { Timestamp(awsDateTime: $0) } ?? now
        let due = last.adding(seconds: seconds)
        guard due > now else { return try change(.resolve(.time), of: &incident) }
        try writer.set(self.timer(.autoResolve, of: &incident, dueAt: due, payload: timer.payload))
        try saveFacts(of: incident)
    }
}
