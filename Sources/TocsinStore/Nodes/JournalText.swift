import TocsinCore

/// A line of the journal: what happened, in the words of a row's body.
enum JournalEntry: Hashable, Sendable {
    enum Change: String { case created = "c", updated = "u", deleted = "d" }

    /// Records of one model and owner, by id.
    case records(Change, model: String, owner: String?, ids: [String])
    /// A record with all its values: what is read later may have changed again, or be gone.
    case values(Change, model: String, owner: String?, fields: [String: FieldValue])
    case outboxFilled
    case webhooksFilled
    case deviceEnded(DeviceID, reason: String)
    case pushesUnwanted(UserID, TopicID?, DeliveryReason)
    case accessEnded(UserID, TokenID?)
    case deliveries(MessageID, [DeviceID])

    var isOfRecords: Bool {
        switch self {
        case .records, .values: true
        case .outboxFilled, .webhooksFilled, .deviceEnded, .pushesUnwanted, .accessEnded, .deliveries: false
        }
    }
}

/// Writes and reads the body of a row of the journal: a line an entry, fields between tabs, escaped as PostgreSQL's `COPY`
/// does (`\N` is null).
///
/// Lines of a kind that is not known are another version's and are passed over.
struct JournalText {
    /// What a line is of to which another id may be added.
    private enum Head: Equatable {
        case records(JournalEntry.Change, ObjectIdentifier, owner: String?)
        case deliveries(MessageID)
        case signal(DomainEvent)
    }

    private(set) var text = ""
    /// That of the last line; nil where nothing may follow it.
    private var head: Head?
    private static let maximumValueBytes = 8192

    var isEmpty: Bool { text.isEmpty }

    // MARK: Writing

    mutating func add(_ event: DomainEvent, withDeliveries: Bool) {
        switch event {
        case .created(let record): addID(.created, record)
        case .updated(let record): addValues(.updated, record)
        case .deleted(let record): addValues(.deleted, record)
        case .outboxFilled: addOnce("o", event)
        case .webhooksFilled: addOnce("w", event)
        case .deviceEnded(let device, let reason): addLine(["e", Self.escaped(device.text), Self.escaped(reason)])
        case .pushesUnwanted(let user, let topic, let reason):
            addLine(["p", Self.escaped(user.text), topic.map { Self.escaped($0.text) } ?? Self.null, reason.rawValue])
        case .accessEnded(let user, let token):
            addLine(["a", Self.escaped(user.text), token.map { Self.escaped($0.text) } ?? Self.null])
        case .deliveryChanged(let delivery):
            guard withDeliveries else { return }
            add(delivery.deviceID.text, to: .deliveries(delivery.messageID)) {
                "s\t" + Self.escaped(delivery.messageID.text)
            }
        }
    }

    /// What was created does not change soon: its id is enough.
    private mutating func addID(_ change: JournalEntry.Change, _ record: Record) {
        add(record.id, to: .records(change, ObjectIdentifier(record.model), owner: record.owner)) {
            Self.beginning(change.rawValue, record)
        }
    }

    private mutating func addValues(_ change: JournalEntry.Change, _ record: Record) {
        var line = Self.beginning(change.rawValue.uppercased(), record)
        for (field, value) in zip(record.model.fields, record.values) where !value.isNull {
            line += "\t" + Self.escaped(field.name) + "\t" + Self.escaped(Self.typed(value))
        }
        if line.utf8.count > Self.maximumValueBytes { return addID(change, record) }
        addLine([line])
    }

    private static func beginning(_ kind: String, _ record: Record) -> String {
        "\(kind)\t\(escaped(record.model.name))\t\(record.owner.map(escaped) ?? null)"
    }

    /// Adds an id to the last line if that has this head, or else to a new one that begins so.
    private mutating func add(_ id: String, to head: Head, beginning: () -> String) {
        if head != self.head {
            addLine([beginning()])
            self.head = head
        }
        text += "\t"
        text += Self.escaped(id)
    }

    private mutating func addOnce(_ kind: String, _ signal: DomainEvent) {
        if head == .signal(signal) { return }
        addLine([kind])
        head = .signal(signal)
    }

    private mutating func addLine(_ parts: [String]) {
        if !text.isEmpty { text += "\n" }
        text += parts.joined(separator: "\t")
        head = nil
    }

    private static let null = "\\N"

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x09 || $0 == 0x0A }) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\t": escaped += "\\t"
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func typed(_ value: FieldValue) -> String {
        switch value {
        case .null: "n"
        case .bool(let flag): flag ? "b1" : "b0"
        case .int(let number): "i\(number)"
        case .double(let number): "d\(number)"
        case .text(let text): "t" + text
        case .json(let text): "j" + text
        }
    }
}

// MARK: Reading

extension JournalText {
    /// The entries of a row's body.
    static func entries(of body: String) -> [JournalEntry] {
        body.unicodeScalars.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { unescaped(String($0)) }
            return entry(fields)
        }
    }

    private static func entry(_ fields: [String?]) -> JournalEntry? {
        let kind = (fields.first ?? nil) ?? ""
        let texts = fields.dropFirst().map { $0 ?? "" }
        switch (kind, texts.count) {
        case ("o", 0): return .outboxFilled
        case ("w", 0): return .webhooksFilled
        case ("e", 2): return .deviceEnded(DeviceID(texts[0]), reason: texts[1])
        case ("p", 3):
            let topic = fields[2].map { TopicID($0) }
            return DeliveryReason(rawValue: texts[2]).map { .pushesUnwanted(UserID(texts[0]), topic, $0) }
        case ("a", 2): return .accessEnded(UserID(texts[0]), fields[2].map { TokenID($0) })
        case ("s", 2...): return .deliveries(MessageID(texts[0]), texts.dropFirst().map { DeviceID($0) })
        case (_, 2...): break
        default: return nil
        }
        if let change = JournalEntry.Change(rawValue: kind) {
            return .records(change, model: texts[0], owner: fields[2], ids: Array(texts.dropFirst(2)))
        }
        guard let change = JournalEntry.Change(rawValue: kind.lowercased()) else { return nil }
        var values: [String: FieldValue] = [:]
        for place in stride(from: 2, to: texts.count - 1, by: 2) { values[texts[place]] = value(texts[place + 1]) }
        return .values(change, model: texts[0], owner: fields[2], fields: values)
    }

    private static func unescaped(_ text: String) -> String? {
        if text == null { return nil }
        guard text.utf8.contains(0x5C) else { return text }
        var plain = String.UnicodeScalarView()
        var isEscape = false
        for scalar in text.unicodeScalars {
            if isEscape {
                plain.append(scalar == "t" ? "\t" : scalar == "n" ? "\n" : scalar)
                isEscape = false
            } else if scalar == "\\" {
                isEscape = true
            } else {
                plain.append(scalar)
            }
        }
        return String(plain)
    }

    private static func value(_ text: String) -> FieldValue {
        let rest = String(text.unicodeScalars.dropFirst())
        switch text.unicodeScalars.first {
        case "b": return .bool(rest == "1")
        case "i": return Int64(rest).map(FieldValue.int) ?? .null
        case "d": return Double(rest).map(FieldValue.double) ?? .null
        case "t": return .text(rest)
        case "j": return .json(rest)
        default: return .null
        }
    }
}
