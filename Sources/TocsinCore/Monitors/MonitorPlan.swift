/// What a row of the model `Monitor` asks for.
package struct MonitorPlan: Sendable, Equatable {
    /// Names it.
    package var id: String
    /// Whose it is.
    package var owner: String
    /// What people call it.
    package var name: String
    /// What it is called in addresses, and in the keys of its incidents.
    package var slug: String
    /// Where its incidents are.
    package var topicID: TopicID
    /// Of its incidents, 1 to 5.
    package var priority: Int
    /// When pings are to come.
    package var schedule: MonitorSchedule
    /// How it judges.
    package var rules: MonitorRules

    /// The priority where a monitor names none.
    package static let usualPriority = 4

    /// Reads a row; nil where it is none that a server of ours has written.
    package init?(_ record: Record) { self.init(id: record.id, owner: record.owner ?? "") { record[$0] } }

    /// Reads values by their field's name.
    init?(id: String, owner: String, _ value: (String) -> FieldValue) {
        guard let slug = value("slug").text, let topic = value("topicId").text else { return nil }
        if let line = value("cron").text {
            schedule = .cron(line, timeZone: value("timeZone").text ?? "UTC")
        } else if let seconds = value("periodSeconds").int {
            schedule = .period(seconds: seconds)
        } else {
            return nil
        }
        (self.id, self.owner, self.slug, topicID) = (id, owner, slug, TopicID(topic))
        name = value("name").text ?? slug
        priority = Int(value("priority").int ?? Int64(Self.usualPriority))
        rules = MonitorRules(
            graceSeconds: value("graceSeconds").int ?? 60,
            maximumRunSeconds: value("maxRunSeconds").int ?? 0,
            failures: value("failures").int ?? 1,
            successes: value("successes").int ?? 1
        )
    }

    /// The key of its incidents.
    package var incidentKey: String { "monitor/" + slug }

    /// As whom its incidents are made.
    package var integration: Integration {
        var integration = Integration(id: id, owner: owner, name: name, kind: .heartbeat, topicID: topicID)
        (integration.defaultPriority, integration.isOfMonitor) = (priority, true)
        return integration
    }

    /// What news are to its incident.
    func event(of news: MonitorNews, at now: Timestamp) -> SenderEvent {
        switch news {
        case .down(let reason):
            var event = SenderEvent(.trigger, key: incidentKey)
            event.title = MonitorWords.title(name, reason, schedule, at: now)
            if case .failure(_, let text) = reason { event.body = text }
            (event.priority, event.labels) = (priority, ["monitor": slug])
            return event
        case .up, .unwatched: return SenderEvent(.resolve, key: incidentKey)
        }
    }
}
