import JSON
import TocsinCore

/// One event in our own shape, read member by member.
struct EventObject {
    private let object: JSONObject
    private let place: String
    /// Why it cannot be taken.
    private(set) var problems: [String] = []
    /// What was left out.
    private(set) var notes: [String] = []

    init(_ object: JSONObject, place: String) { (self.object, self.place) = (object, place) }

    /// The event; nil: `problems` say why.
    mutating func event(_ severity: inout SeverityReader) -> SenderEvent? {
        guard let action = action() else { return nil }
        var event = SenderEvent(action, key: object["key"]?.senderText)
        if let key = event.key, key.unicodeScalars.count > SenderEvent.maximumKeyCharacters {
            problems.append("\(place)'key' is longer than \(SenderEvent.maximumKeyCharacters) characters.")
        }
        if [.acknowledge, .resolve].contains(action), (event.key ?? "").isEmpty {
            problems.append("\(place)'key' is missing: it says which incident is meant.")
        }
        event.title = text("title")
        event.body = text("body")
        event.priority = priority(&severity)
        event.url = object.filled("url")
        if event.url != nil, SenderURL.checked(event.url) == nil { leaveOut("url", "an address") }
        event.labels = texts("labels")
        event.data = texts("data")
        event.links = links()
        event.image = object.filled("image")
        event.category = object.filled("category")
        event.occurredAt = SenderTime.read(object["occurredAt"])
        event.messageKey = object.filled("messageKey")
        event.alerts = alerts()
        event.truncatedAlerts = Int(clamping: object["truncated"]?.senderNumber ?? 0)
        return problems.isEmpty ? event : nil
    }

    private mutating func action() -> SenderEvent.Action? {
        guard let word = object.filled("action")?.lowercased() else { return .trigger }
        if let action = SenderEvent.Action(rawValue: word) ?? Self.otherWords[word] { return action }
        let words = SenderEvent.Action.allCases.map(\.rawValue).joined(separator: ", ")
        problems.append("\(place)'action' must be one of \(words); it is \"\(word.withoutControls.cut(toBytes: 64))\".")
        return nil
    }

    private static let otherWords: [String: SenderEvent.Action] = [
        "triggered": .trigger, "firing": .trigger, "ack": .acknowledge, "acknowledged": .acknowledge,
        "resolved": .resolve, "message": .log,
    ]

    private mutating func priority(_ severity: inout SeverityReader) -> Int? {
        if let value = object["priority"], !value.isNull {
            if let number = value.senderNumber, (1...5).contains(number) { return Int(number) }
            leaveOut("priority", "1 (min) to 5 (critical)")
        }
        return severity.priority(of: object.filled("severity"))
    }

    private func text(_ name: String) -> String { object[name].map(\.compactText) ?? "" }

    private mutating func texts(_ name: String) -> [String: String] {
        guard let value = object[name], !value.isNull else { return [:] }
        guard let members = value.objectValue else {
            leaveOut(name, "an object of texts")
            return [:]
        }
        return members.senderTexts
    }

    private mutating func links() -> [SenderEvent.Link] {
        guard let value = object["links"], !value.isNull else { return [] }
        guard let values = value.arrayValue else {
            leaveOut("links", "a list of {text, url}")
            return []
        }
        return values.prefix(100).compactMap { link in
            link.filled("url").map { SenderEvent.Link(text: link.filled("text") ?? "", url: $0) }
        }
    }

    private func alerts() -> [SenderEvent.Alert] {
        guard let alert = object["alert"]?.objectValue, let fingerprint = alert.filled("fingerprint") else { return [] }
        var member = SenderEvent.Alert(
            fingerprint: fingerprint,
            isFiring: alert.filled("state")?.lowercased() != "resolved",
            title: text("title"),
            labels: object["labels"]?.objectValue?.senderTexts ?? [:]
        )
        member.startsAt = SenderTime.read(alert["startsAt"])
        member.endsAt = SenderTime.read(alert["endsAt"])
        return [member]
    }

    private mutating func leaveOut(_ name: String, _ meant: String) {
        notes.append("\(place)'\(name)' was left out: it must be \(meant).")
    }
}
