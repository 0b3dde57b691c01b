import JSON

/// Incidents as lines for people.
enum IncidentWording {
    /// `alerts#42`.
    static func name(_ incident: JSONValue) -> String {
        let topic = incident["topic"]?["name"]?.stringValue ?? incident["topicId"]?.stringValue ?? ""
        return "\(topic)#\(incident["number"]?.intValue ?? 0)"
    }

    /// An incident on one line: name, state, priority, when it was opened, who has it, title.
    static func line(_ incident: JSONValue) -> String {
        let words = [
            name(incident), incident["state"]?.stringValue ?? "", "\(incident["priority"]?.intValue ?? 0)",
            incident["openedAt"]?.stringValue ?? "", incident["acknowledgedBy"]?.stringValue ?? "-",
            incident["title"]?.stringValue ?? "",
        ]
        return words.map(oneLine).joined(separator: "\t")
    }

    /// What became of an incident by an act.
    static func standing(_ incident: JSONValue) -> String {
        var words = "\(name(incident)) is \(incident["state"]?.stringValue ?? "")"
        switch incident["state"]?.stringValue {
        case "ACKNOWLEDGED":
            if let by = incident["acknowledgedBy"]?.stringValue { words += " by \(by)" }
            if let place = incident["acknowledgedOn"]?.stringValue { words += " (\(place))" }
        case "SNOOZED":
            if let until = incident["snoozedUntil"]?.stringValue { words += " until \(until)" }
        case "RESOLVED":
            if let by = incident["resolvedBy"]?.stringValue { words += " by \(by)" }
            let firing = incident["firingCount"]?.intValue ?? 0
            if firing > 0 { words += ", while \(firing) \(firing == 1 ? "alert fires" : "alerts fire")" }
        default: break
        }
        return oneLine(words + ": " + (incident["title"]?.stringValue ?? ""))
    }

    /// All that is known of one, a line a fact; then its alerts and its timeline.
    static func lines(_ incident: JSONValue, alerts: [JSONValue], entries: [JSONValue]) -> [String] {
        var lines = ["incident\t" + name(incident)]
        for field in facts {
            guard let value = incident[field], value != .null, value != false else { continue }
            lines.append("\(field)\t" + (value.stringValue ?? value.serializedString()))
        }
        for alert in alerts {
            lines.append(
                [
                    "alert", alert["state"]?.stringValue ?? "", alert["startsAt"]?.stringValue ?? "-",
                    alert["title"]?.stringValue ?? alert["fingerprint"]?.stringValue ?? "",
                ]
                .joined(separator: "\t")
            )
        }
        for entry in entries {
            lines.append(
                [
                    "\(entry["number"]?.intValue ?? 0)", entry["at"]?.stringValue ?? "",
                    entry["change"]?.stringValue ?? "", entry["via"]?.stringValue ?? "-",
                    entry["text"]?.stringValue ?? "",
                ]
                .joined(separator: "\t")
            )
        }
        return lines.map { Terminal.harmless($0).replacing("\n", with: "\n\t") }
    }

    private static let facts = [
        "id", "state", "title", "body", "priority", "key", "url", "openedAt", "lastEventAt", "occurrences",
        "alertCount", "firingCount", "truncatedCount", "acknowledgedAt", "acknowledgedBy", "acknowledgedVia",
        "acknowledgedOn", "assignee", "snoozedUntil", "senderResolvedAt", "resolvedAt", "resolvedBy", "resolvedVia",
        "flapping", "labels", "data",
    ]

    /// Without anything that steers a terminal, line ends and tabs included.
    static func oneLine(_ text: String) -> String {
        Terminal.harmless(text.replacing("\n", with: " ").replacing("\t", with: " "))
    }
}
