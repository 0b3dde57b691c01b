import FoundationEssentials
import JSON
import TocsinClient
import TocsinServer

extension MonitorCommand {
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
        for name in facts {
            guard let value = shown[name], value != .null else { continue }
            Terminal.print("\(name)\t\(Terminal.harmless(value.stringValue ?? value.serializedString()))")
        }
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

    /// The id of a monitor that is named by its slug or id.
    static func id(of text: String, _ client: TocsinClient) async throws -> String {
        let found = try await client.query(bySlugDocument, variables: ["slug": .string(text)])
        let ids = (found["monitorsBySlug"]?["items"]?.arrayValue ?? [])
            .filter { $0["_deleted"]?.boolValue != true }.compactMap { $0["id"]?.stringValue }
        guard ids.count <= 1 else {
            throw CommandFailure(
                "You may see several monitors with the slug \(Terminal.harmless(text)). Give the id; `tocsin monitor "
                    + "list --json` shows all."
            )
        }
        return ids.first ?? text
    }

    static func shown(_ text: String, pings: Int, _ client: TocsinClient) async throws -> JSONValue {
        let id = try await id(of: text, client)
        let answer = try await client.query(showDocument, variables: ["id": .string(id), "pings": .int(Int64(pings))])
        guard let found = answer["getMonitor"], found != .null, found["_deleted"]?.boolValue != true else {
            throw CommandFailure(
                "There is no monitor \(Terminal.harmless(text)) of yours. `tocsin monitor list` shows all."
            )
        }
        return found
    }

    /// The time so many minutes from now.
    static func time(inMinutes minutes: Int) -> String {
        Date(timeIntervalSinceNow: Double(minutes) * 60).ISO8601Format()
    }
}
