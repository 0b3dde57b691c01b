import JSON
import TocsinCore

/// One alert as Alertmanager and Grafana post it.
struct GroupedAlert {
    let isFiring: Bool
    let labels: [String: String]
    let annotations: [String: String]
    let fingerprint: String
    let startsAt: Timestamp?
    let endsAt: Timestamp?
    /// Grafana's values, by name.
    let values: [(name: String, text: String)]
    private let object: JSONObject

    init(_ object: JSONObject, sha256: ([UInt8]) -> [UInt8]) {
        self.object = object
        isFiring = object.filled("status")?.lowercased() != "resolved"
        labels = object["labels"]?.objectValue?.senderTexts ?? [:]
        annotations = object["annotations"]?.objectValue?.senderTexts ?? [:]
        fingerprint = object.filled("fingerprint") ?? Self.fingerprint(of: labels, sha256)
        startsAt = SenderTime.read(object["startsAt"])
        endsAt = SenderTime.read(object["endsAt"])
        values = (object["values"]?.objectValue.map(Array.init) ?? []).filter { $0.value.doubleValue != nil }
            .map { ($0.key, Self.rounded($0.value)) }.sorted { $0.0 < $1.0 }
    }

    private static func fingerprint(of labels: [String: String], _ sha256: ([UInt8]) -> [UInt8]) -> String {
        let text = labels.sorted { $0.key < $1.key }.map { "\($0.key)\u{0}\($0.value)" }.joined(separator: "\u{0}")
        return String(HexText.text(of: sha256(Array(text.utf8))).prefix(16))
    }

    /// At most three digits behind the point.
    private static func rounded(_ value: JSONValue) -> String {
        guard let number = value.doubleValue, abs(number) < 1e12 else { return value.compactText }
        return JSONValue.double((number * 1000).rounded() / 1000).compactText
    }

    /// What it says in one line; nil: nothing but its labels.
    var summary: String? { annotation("summary") ?? annotation("title") }

    /// The name of its rule.
    var name: String { labels["alertname"]?.trimmed ?? "" }

    /// An annotation that is not empty.
    func annotation(_ name: String) -> String? {
        guard let text = annotations[name]?.trimmed, !text.isEmpty else { return nil }
        return text
    }

    /// A member that is an address.
    func address(_ member: String) -> String? { SenderURL.checked(object.filled(member)) }

    /// Where it happens: the first label that says so, else all that the group has not in common.
    func place(beside common: [String: String]) -> String {
        for label in ["instance", "pod", "host", "job"] {
            if let text = labels[label]?.trimmed, !text.isEmpty { return text }
        }
        return labels.filter { common[$0.key] != $0.value }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
    }

    /// One line: where, what, and at most three values.
    func line(beside common: [String: String]) -> String {
        var parts = [place(beside: common), annotation("summary") ?? annotation("description") ?? ""]
        parts = parts.map(\.onOneLine).filter { !$0.isEmpty }
        let line = parts.joined(separator: ": ").cut(toBytes: 1024, mark: "…")
        let values = values.prefix(3).map { "\($0.name)=\($0.text)" }.joined(separator: ", ")
        return [line, values.isEmpty ? "" : "(\(values))"].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The member of an incident that it is.
    var member: SenderEvent.Alert {
        let title = summary ?? (name.isEmpty ? fingerprint : name)
        var alert = SenderEvent.Alert(fingerprint: fingerprint, isFiring: isFiring, title: title, labels: labels)
        alert.url = address("panelURL") ?? address("dashboardURL") ?? address("generatorURL")
        (alert.startsAt, alert.endsAt) = (startsAt, endsAt)
        return alert
    }
}
