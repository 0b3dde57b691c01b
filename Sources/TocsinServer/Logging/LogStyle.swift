import Glibc
import JSON
import Logging
import TocsinCore

/// In which form lines are written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object a line, with keys of our own.
    case json
    /// For people at a terminal.
    case text
    /// The same as `json` under the names of OpenTelemetry's conventions.
    case otel
}

/// How lines become bytes.
package struct LogStyle: Sendable {
    private let format: LogFormat
    private let node: String
    /// Whether each line begins with its priority, which the journal takes off (sd-daemon(3)).
    private let hasPriorities: Bool

    /// A style of these parts.
    package init(_ format: LogFormat, node: String, hasPriorities: Bool = false) {
        (self.format, self.node, self.hasPriorities) = (format, node, hasPriorities)
    }

    /// The style for standard error: what the settings say, else text on a terminal and JSON
    /// elsewhere.
    package static func ofStandardError(_ settings: Settings) -> LogStyle {
        let format = LogFormat(rawValue: settings.server.logFormat) ?? (isatty(2) == 1 ? .text : .json)
        return LogStyle(format, node: settings.server.nodeName, hasPriorities: leadsToJournal(2))
    }

    /// Whether systemd has connected this descriptor with its journal (systemd.exec(5)).
    private static func leadsToJournal(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard let stream = getenv("JOURNAL_STREAM"), fstat(descriptor, &status) == 0 else { return false }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Whether people read the lines as they are.
    var isForPeople: Bool { format == .text }

    /// The line with its end.
    package func bytes(of line: LogLine) -> [UInt8] {
        var writer = JSONWriter(capacity: 384)
        if hasPriorities {
            writer.byte(UInt8(ascii: "<"))
            writer.int(line.level.priority)
            writer.byte(UInt8(ascii: ">"))
        }
        switch format {
        case .json: writer.object(members(of: line))
        case .otel: writer.object(attributes(of: line))
        case .text: writer.terminalLine(line)
        }
        writer.byte(UInt8(ascii: "\n"))
        return writer.bytes
    }

    private func members(of line: LogLine) -> [(key: String, value: LogLine.Value)] {
        [
            ("time", .text(line.moment.iso8601)), ("level", .text(line.level.rawValue)), ("event", .text(line.event)),
            ("message", .text(line.message)), ("node", .text(node)),
        ] + line.fields
    }

    /// The members of OpenTelemetry's log data model, and its attributes beside them.
    private func attributes(of line: LogLine) -> [(key: String, value: LogLine.Value)] {
        [
            ("timestamp", .text(line.moment.iso8601)), ("severity_text", .text(line.level.rawValue.uppercased())),
            ("severity_number", .int(line.level.severity)), ("body", .text(line.message)),
            ("event.name", .text("tocsin." + line.event)), ("service.name", .text("tocsin")),
            ("service.instance.id", .text(node)),
        ] + line.fields.map { (Self.attributeNames[$0.key] ?? "tocsin." + $0.key, $0.value) }
    }

    /// Names of OpenTelemetry's semantic conventions 1.36; what has none there is `tocsin.` and our
    /// key.
    private static let attributeNames = [
        "method": "http.request.method", "path": "url.path", "status": "http.response.status_code",
        "bytes": "http.response.body.size", "client_address": "client.address", "user": "user.id",
        "operation": "graphql.operation.name", "operation_type": "graphql.operation.type",
        "request_id": "tocsin.request.id", "message_id": "messaging.message.id", "topic": "messaging.destination.name",
        "error": "error.message", "host": "server.address", "port": "server.port",
    ]
}

extension Logger.Level {
    /// The priority of syslog (RFC 5424 §6.2.1).
    fileprivate var priority: Int64 {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    /// OpenTelemetry's number.
    fileprivate var severity: Int64 {
        switch self {
        case .critical: 21
        case .error: 17
        case .warning: 13
        case .notice: 10
        case .info: 9
        case .debug: 5
        case .trace: 1
        }
    }
}

extension JSONWriter {
    fileprivate mutating func object(_ members: [(key: String, value: LogLine.Value)]) {
        byte(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { byte(UInt8(ascii: ",")) }
            string(member.key)
            byte(UInt8(ascii: ":"))
            value(member.value)
        }
        byte(UInt8(ascii: "}"))
    }

    private mutating func value(_ value: LogLine.Value) {
        switch value {
        case .text(let text): string(text)
        case .int(let number): int(number)
        case .double(let number): double(number)
        case .bool(let flag): bool(flag)
        }
    }

    /// `TIME LEVEL event: message key=value …`, in which nothing can move a terminal's cursor.
    fileprivate mutating func terminalLine(_ line: LogLine) {
        let level = line.level.rawValue
        raw(bytes: (line.moment.iso8601 + " " + level).utf8)
        raw(bytes: repeatElement(UInt8(ascii: " "), count: max(1, 9 - level.utf8.count)))
        raw(bytes: line.event.utf8)
        if line.message != line.event { raw(bytes: (": " + Self.harmless(line.message)).utf8) }
        for (key, field) in line.fields {
            raw(bytes: (" " + key + "=").utf8)
            if case .text(let text) = field, Self.isPlain(text) { raw(bytes: text.utf8) } else { terminal(field) }
        }
    }

    private mutating func terminal(_ field: LogLine.Value) {
        if case .text(let text) = field { string(Self.harmless(text)) } else { value(field) }
    }

    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C }
    }

    private static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "\u{FFFD}" : $0 }))
    }

    /// Controls of ASCII and of ISO 6429, and what turns the direction of writing.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
