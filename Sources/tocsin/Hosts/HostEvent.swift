import FoundationEssentials
import Glibc
import JSON
import TocsinCore

/// One event as integrations of kind EVENT take it.
struct HostEvent: Equatable {
    var action: SenderEvent.Action
    /// The incident's key; that of a plain message tells its repeats.
    var key: String?
    var title = ""
    var body = ""
    var severity: String?
    var priority: Int?
    var labels: [(name: String, value: String)] = []
    var url: String?

    /// The longest key, in characters.
    static let maximumKeyLength = 512
    /// The longest text that servers keep, in bytes.
    static let maximumBodyBytes = 64 << 10

    static func == (left: HostEvent, right: HostEvent) -> Bool { left.object == right.object }

    /// Its members; empty ones are left out.
    private var object: JSONObject {
        var object: JSONObject = ["action": .string(action.rawValue)]
        // A resend of a message is known by its own key, all others by the state of the incident.
        if let key { object[action == .log ? "messageKey" : "key"] = .string(key) }
        if !title.isEmpty { object["title"] = .string(title) }
        if !body.isEmpty { object["body"] = .string(Self.cut(body)) }
        if let severity { object["severity"] = .string(severity) }
        if let priority { object["priority"] = .int(Int64(priority)) }
        if let url { object["url"] = .string(url) }
        if !labels.isEmpty {
            var texts: JSONObject = [:]
            for label in labels { texts[label.name] = .string(label.value) }
            object["labels"] = .object(texts)
        }
        return object
    }

    /// The post's body, with the moment in which it was said.
    func bytes(at time: Timestamp) -> [UInt8] {
        var object = object
        object["occurredAt"] = .string(time.iso8601)
        return Array(JSONValue.object(object).serializedString().utf8)
    }

    /// Posts it to the integration.
    func deliver(_ settings: HostSettings) async throws {
        var event = self
        if [.trigger, .log].contains(action), key == nil { event.key = UUID().uuidString.lowercased() }
        let entry = settings.entry(
            path: "/in/event",
            contentType: "application/json",
            body: event.bytes(at: HostClock.now)
        )
        try await HostPost(settings: settings).deliver(entry)
        // Whoever is to resolve it needs the key that was made here.
        if action == .trigger, key == nil, let made = event.key { Terminal.print(made) }
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maximumBodyBytes else { return text }
        var (kept, count) = (text.unicodeScalars.startIndex, 0)
        for index in text.unicodeScalars.indices {
            count += UTF8.width(text.unicodeScalars[index])
            // Room for the three bytes of the mark.
            guard count <= maximumBodyBytes - 3 else { break }
            kept = text.unicodeScalars.index(after: index)
        }
        return String(text.unicodeScalars[..<kept]) + "…"
    }
}

/// The machine's own time.
enum HostClock {
    static var now: Timestamp {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(milliseconds: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)
    }
}
