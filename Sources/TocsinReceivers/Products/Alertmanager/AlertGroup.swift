import JSON
import TocsinCore

/// A post of Alertmanager (webhook version 4) or of Grafana (version 1: the same with more).
struct AlertGroup {
    let object: JSONObject
    let alerts: [GroupedAlert]
    let firing: [GroupedAlert]
    let commonLabels: [String: String]
    let groupKey: String
    let truncated: Int
    let context: ReceiverContext

    /// More alerts of one post are counted as those that the sender did not show.
    private static let maximumAlerts = 10_000

    /// The group of a body, or what is wrong with it.
    static func read(_ body: [UInt8], _ context: ReceiverContext) -> Result<AlertGroup, LenientJSON.Unreadable> {
        LenientJSON.object(body).flatMap { object in
            guard let values = object["alerts"]?.arrayValue, let key = object["groupKey"]?.senderText, !key.isEmpty
            else {
                return .failure(
                    LenientJSON.Unreadable(
                        "The body must have 'alerts', a list, and 'groupKey', a text, as webhooks of Alertmanager have."
                    )
                )
            }
            return .success(AlertGroup(object: object, values: values, groupKey: key, context: context))
        }
    }

    private init(object: JSONObject, values: [JSONValue], groupKey: String, context: ReceiverContext) {
        (self.object, self.groupKey, self.context) = (object, groupKey, context)
        let read = values.prefix(Self.maximumAlerts).compactMap(\.objectValue).map {
            GroupedAlert($0, sha256: context.sha256)
        }
        firing = read.filter(\.isFiring)
        alerts = firing + read.filter { !$0.isFiring }
        commonLabels = object["commonLabels"]?.objectValue?.senderTexts ?? [:]
        let untold = Int(clamping: max(0, object["truncatedAlerts"]?.senderNumber ?? 0))
        truncated = min(untold, 1_000_000) + max(0, values.count - Self.maximumAlerts)
    }

    /// With alerts that are not shown only the group's status decides.
    var isFiring: Bool {
        let status = object.filled("status")?.lowercased()
        if status == "resolved" { return truncated == 0 && !firing.isEmpty }
        return status != nil || !firing.isEmpty
    }

    /// The same that Alertmanager gives PagerDuty as `dedup_key`.
    var key: String { HexText.text(of: context.sha256(Array(groupKey.utf8))) }

    /// The common summary or the rule's name, with how many fire.
    var title: String {
        guard alerts.count != 1 || truncated > 0 else { return Self.title(of: alerts[0]) }
        let common = object["commonAnnotations"]?.objectValue
        let name = common?.filled("summary") ?? commonLabels["alertname"] ?? alerts.first?.name ?? ""
        let (fire, over) = (firing.count, alerts.count - firing.count)
        let counts = [fire > 0 ? "\(fire) firing" : "", over > 0 ? "\(over) resolved" : ""].filter { !$0.isEmpty }
        guard !counts.isEmpty else { return name }
        return "\(name) (\(counts.joined(separator: ", ")))".trimmed
    }

    static func title(of alert: GroupedAlert) -> String { alert.summary ?? alert.name }

    /// One line an alert, firing first.
    var body: String {
        var lines = alerts.prefix(10).map { $0.line(beside: commonLabels) }.filter { !$0.isEmpty }
        if alerts.count == 1, let text = alerts[0].annotation("description"), alerts[0].annotation("summary") != nil {
            lines.append(text)
        }
        if alerts.count > 10 { lines.append("and \(alerts.count - 10) more") }
        if truncated > 0 { lines.append("and \(truncated) not shown by the sender") }
        return lines.joined(separator: "\n")
    }

    /// The highest of the firing alerts, or of all when none fires; nil: none says.
    func priority(of alerts: [GroupedAlert], _ severity: inout SeverityReader) -> Int? {
        let firing = alerts.filter(\.isFiring)
        var highest: Int?
        for alert in firing.isEmpty ? alerts : firing {
            let read = severity.priority(of: alert.labels[context.integration.severityLabel])
            highest = [highest, read].compactMap { $0 }.max()
        }
        return highest
    }

    /// The addresses of an alert and of its group, the best first.
    func links(of alert: GroupedAlert?) -> [SenderEvent.Link] {
        var links: [SenderEvent.Link] = []
        func add(_ text: String, _ url: String?) {
            if let url, !links.contains(where: { $0.url == url }) {
                links.append(SenderEvent.Link(text: text, url: url))
            }
        }
        add("Panel", alert?.address("panelURL"))
        add("Dashboard", alert?.address("dashboardURL"))
        add("Dashboard", SenderURL.checked(alert?.annotation("dashboard_url")))
        add("Runbook", SenderURL.checked(alert?.annotation("runbook_url")))
        add("Source", alert?.address("generatorURL"))
        add("Sender", SenderURL.checked(object.filled("externalURL")))
        add("Silence in Grafana", alert?.address("silenceURL"))
        return links
    }

    /// What apps may want to know of the group.
    var data: [String: String] {
        var data = [
            "groupKey": groupKey, "firing": String(firing.count), "resolved": String(alerts.count - firing.count),
        ]
        for name in ["receiver", "externalURL"] { data[name] = object.filled(name) }
        if truncated > 0 { data["truncated"] = String(truncated) }
        return data
    }

    /// One event of the whole group.
    func groupEvent(_ severity: inout SeverityReader) -> SenderEvent {
        var event = SenderEvent(isFiring ? .trigger : .resolve, key: key, title: title, body: body)
        event.priority = priority(of: alerts, &severity)
        event.labels = commonLabels
        event.alerts = alerts.prefix(SenderEvent.maximumAlerts).map(\.member)
        event.truncatedAlerts = truncated + max(0, alerts.count - SenderEvent.maximumAlerts)
        fill(&event, from: firing.first ?? alerts.first)
        return event
    }

    /// One event of one alert.
    func event(of alert: GroupedAlert, _ severity: inout SeverityReader) -> SenderEvent {
        let line = alert.line(beside: [:])
        let body = [line, alert.annotation("summary") == nil ? "" : alert.annotation("description") ?? ""]
        var event = SenderEvent(
            alert.isFiring ? .trigger : .resolve,
            key: alert.fingerprint,
            title: Self.title(of: alert),
            body: body.filter { !$0.isEmpty }.joined(separator: "\n")
        )
        event.priority = priority(of: [alert], &severity)
        event.labels = alert.labels
        event.alerts = [alert.member]
        fill(&event, from: alert)
        return event
    }

    private func fill(_ event: inout SenderEvent, from alert: GroupedAlert?) {
        event.data = data
        event.links = links(of: alert)
        event.url = event.links.first { $0.text != "Silence in Grafana" }?.url
        event.image = alert?.address("imageURL")
        event.occurredAt = event.action == .resolve ? alert?.endsAt : alert?.startsAt
    }
}
