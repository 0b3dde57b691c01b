import JSON
import TocsinCore

// What becomes of incidents.
extension WebhookRegistry {
    /// The rows of a change: one for each webhook that wants to know of the topic's incidents.
    ///
    /// An event's id follows from the incident, its entry and the webhook.
    func events(of news: IncidentNews) -> [WebhookEvent] {
        guard let type = WebhookEventType(news.change) else { return [] }
        let topicID = news.incident["topicId"].text ?? ""
        return listening(to: type)
            .filter { $0.topics.isEmpty || !$0.topics.isDisjoint(with: [news.topicName, topicID]) }
            .map { webhook in
                let body: JSONValue = [
                    "type": .string(type.rawValue), "timestamp": .string(news.at.iso8601),
                    "data": .object(data(of: news, for: webhook)),
                ]
                let id = news.entry.map { DerivedUUID.text(of: news.incident.id, "\($0) \(webhook.name)") }
                return WebhookEvent(
                    id: WebhookEventID("msg_" + (id ?? makeID())),
                    webhook: webhook.name,
                    type: type,
                    body: body.serializedString(),
                    createdAt: news.at
                )
            }
    }

    private func data(of news: IncidentNews, for webhook: Webhook) -> JSONObject {
        let incident = news.incident
        var data: JSONObject = [
            "incidentId": .string(incident.id), "number": .int(incident["number"].int ?? 0),
            "topicId": .string(incident["topicId"].text ?? ""), "topic": .string(news.topicName),
            "key": .string(incident["key"].text ?? ""), "state": .string(incident["state"].text ?? ""),
            "priority": .int(incident["priority"].int ?? 0), "version": .int(incident.version),
            "via": .string(news.actor.via.rawValue), "openedAt": .string(incident["openedAt"].text ?? ""),
        ]
        if let entry = news.entry { data["entry"] = .int(entry) }
        if let name = news.actor.name { data["by"] = .string(name) }
        if let place = news.actor.place { data["on"] = .string(place) }
        for field in ["snoozedUntil", "resolvedAt", "assignee", "integrationId"] {
            if let text = incident[field].text { data[field] = .string(text) }
        }
        if webhook.includesTexts {
            data["title"] = .string(incident["title"].text ?? "")
            data["body"] = .string(incident["body"].text ?? "")
            if let url = incident["url"].text { data["url"] = .string(url) }
            if let note = news.note { data["note"] = .string(note) }
        }
        if webhook.includesActions, let actions = actions(of: news, for: webhook) { data["actions"] = actions }
        return data
    }

    private func actions(of news: IncidentNews, for webhook: Webhook) -> JSONValue? {
        guard let links, let state = news.incident["state"].text.flatMap(IncidentState.init) else { return nil }
        var actions = JSONObject()
        for action in IncidentLinks.actions(in: state) {
            let url = links.url(
                action,
                incident: news.incident.id,
                bearer: .webhook(webhook.name),
                number: news.number,
                at: news.at
            )
            if let url { actions[action.rawValue] = .string(url) }
        }
        return .object(actions)
    }
}
