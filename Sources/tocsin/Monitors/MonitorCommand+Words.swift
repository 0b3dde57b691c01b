import FoundationEssentials
import JSON
import TocsinClient
import TocsinServer

extension MonitorCommand {
    /// Monitors, by slug or id.
    static let rows = KeyedRows(
        noun: "monitor",
        byWord: ("slug", "monitorsBySlug", bySlugDocument),
        show: ("pings", "getMonitor", showDocument),
        key: ("rotateMonitorKey", keyDocument),
        deleteDocument: deleteDocument
    ) {
        "You may see several monitors with the slug \($0). Give the id; `tocsin monitor list --json` shows all."
    }

    /// A monitor on one line.
    static func line(_ item: JSONValue) -> String {
        let words = ["slug", "state", "name", "lastPingAt", "dueAt"].map { item[$0]?.stringValue ?? "-" }
        return words.map(Terminal.harmless).joined(separator: "\t")
    }

    /// Tells of a monitor, a line a fact, and then its pings.
    static func tell(_ shown: JSONValue) {
        let facts = [
            "id", "slug", "name", "topicId", "state", "periodSeconds", "cron", "timeZone", "graceSeconds",
            "maxRunSeconds", "lastPingAt", "lastDurationMs", "dueAt", "uptime",
        ]
        KeyedRows.tell(facts, of: shown)
        if let incident = shown["incident"], incident != .null {
            let words = [incident["state"]?.stringValue ?? "", incident["title"]?.stringValue ?? ""]
            Terminal.print("incident\t" + words.map(Terminal.harmless).joined(separator: "\t"))
        }
        for ping in shown["pings"]?["items"]?.arrayValue ?? [] {
            let text = ping["body"]?.stringValue?.split(separator: "\n").first.map(String.init) ?? ""
            let words = [
                ping["at"]?.stringValue ?? "", ping["signal"]?.stringValue ?? "",
                ping["exitStatus"]?.intValue.map(String.init) ?? "-", text,
            ]
            Terminal.print(words.map(Terminal.harmless).joined(separator: "\t"))
        }
    }

    /// The time so many minutes from now.
    static func time(inMinutes minutes: Int) -> String {
        Date(timeIntervalSinceNow: Double(minutes) * 60).ISO8601Format()
    }
}
