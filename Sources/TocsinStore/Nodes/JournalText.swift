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
    case deviceEnded(DeviceID, reason: DeliveryReason)
    case pushesUnwanted(UserID, TopicID?, DeliveryReason)
    case incidentAnswered(String, MessageNumber)
    case accessEnded(UserID, TokenID?)
    case grantsChanged(GrantChange)
    case rightsChanged(UserID, at: Timestamp)
    case readMarksChanged(UserID)
    case deliveries(MessageID, [DeviceID])

    /// Whether this node tells its own at their place in the journal, and not at once.
    var isInOrder: Bool {
        switch self {
        case .records, .values, .grantsChanged: true
        case .outboxFilled, .webhooksFilled, .deviceEnded, .pushesUnwanted, .incidentAnswered, .accessEnded,
            .rightsChanged, .deliveries:
            false
        case .readMarksChanged: false
        }
    }
}

/// Writes and reads the body of a row of the journal: a line an entry, fields between tabs, escaped
/// as PostgreSQL's `COPY` does (`\N` is null).
///
/// Lines of a kind that is not known are another version's and are passed over.
struct JournalText {
    /// What a line is of to which another id may be added.
    private enum Head: Equatable {
        case records(JournalEntry.Change, ObjectIdentifier, owner: String?)
        case deliveries(MessageID)
        case signal(DomainEvent)
    }

    /// The body in UTF-8.
    private(set) var bytes: [UInt8] = []
    /// That of the last line; nil where nothing may follow it.
    private var head: Head?
    private static let maximumValueBytes = 8192

    var isEmpty: Bool { bytes.isEmpty }

    mutating func add(_ event: DomainEvent, withDeliveries: Bool) {
        switch event {
        case .created(let record): addID(.created, record)
        case .updated(let record): addValues(.updated, record)
        case .deleted(let record): addValues(.deleted, record)
        case .outboxFilled: addOnce("o", event)
        case .webhooksFilled: addOnce("w", event)
        case .deviceEnded(let device, let reason): addLine("e", [device.text, reason.rawValue])
        case .pushesUnwanted(let user, let topic, let reason): addLine("p", [user.text, topic?.text, reason.rawValue])
        case .incidentAnswered(let incident, let number): addLine("i", [incident, String(number)])
        case .accessEnded(let user, let token): addLine("a", [user.text, token?.text])
        case .grantsChanged(let change): addGrant(change)
        case .rightsChanged(let user, let moment): addLine("r", [user.text, String(moment.milliseconds)])
        case .readMarksChanged(let user): addLine("m", [user.text])
        case .deliveryChanged(let delivery):
            guard withDeliveries else { return }
            let head = Head.deliveries(delivery.messageID)
            if head != self.head { addLine("s", [delivery.messageID.text], head: head) }
            addField(delivery.deviceID.text)
        }
    }

    /// What was created does not change soon: its id is enough, in the last line if that is of
    /// the same model and owner.
    private mutating func addID(_ change: JournalEntry.Change, _ record: Record) {
        let head = Head.records(change, ObjectIdentifier(record.model), owner: record.owner)
        if head != self.head { addLine(change.rawValue, [record.model.name, record.owner], head: head) }
        addField(record.id)
    }

    private mutating func addValues(_ change: JournalEntry.Change, _ record: Record) {
        let before = self
        addLine(change.rawValue.uppercased(), [record.model.name, record.owner])
        for (field, value) in zip(record.model.fields, record.values) where !value.isNull {
            addField(field.name)
            addField(Self.typed(value))
        }
        guard bytes.count - before.bytes.count > Self.maximumValueBytes else { return }
        self = before
        addID(change, record)
    }

    private mutating func addGrant(_ change: GrantChange) {
        let end = change.expiresAt.map { String($0.milliseconds) }
        addLine("g", [change.subject.text, change.topic.text, change.owner, String(change.roles.rawValue), end])
    }

    private mutating func addOnce(_ kind: String, _ signal: DomainEvent) {
        if head != .signal(signal) { addLine(kind, [], head: .signal(signal)) }
    }

    /// Begins a line; nil is null.
    private mutating func addLine(_ kind: String, _ fields: [String?], head: Head? = nil) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
        bytes.append(contentsOf: kind.utf8)
        for field in fields { addField(field) }
        self.head = head
    }

    private mutating func addField(_ field: String?) {
        bytes.append(UInt8(ascii: "\t"))
        guard var field else { return bytes.append(contentsOf: Self.null.utf8) }
        field.withUTF8 { text in
            guard text.holds(UInt8(ascii: "\\")) || text.holds(UInt8(ascii: "\t")) || text.holds(UInt8(ascii: "\n"))
            else { return bytes.append(contentsOf: text) }
            for byte in text {
                if let escape = Self.escape(of: byte) {
                    bytes.append(UInt8(ascii: "\\"))
                    bytes.append(escape)
                } else {
                    bytes.append(byte)
                }
            }
        }
    }

    private static let null = "\\N"

    /// What stands behind a backslash in place of a byte that cannot stand for itself.
    private static func escape(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\\"): byte
        case UInt8(ascii: "\t"): UInt8(ascii: "t")
        case UInt8(ascii: "\n"): UInt8(ascii: "n")
        default: nil
        }
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
        case ("e", 2): return .deviceEnded(DeviceID(texts[0]), reason: DeliveryReason(rawValue: texts[1]))
        case ("p", 3):
            let topic = fields[2].map { TopicID($0) }
            return .pushesUnwanted(UserID(texts[0]), topic, DeliveryReason(rawValue: texts[2]))
        case ("i", 2): return Int64(texts[1]).map { .incidentAnswered(texts[0], $0) }
        case ("a", 2): return .accessEnded(UserID(texts[0]), fields[2].map { TokenID($0) })
        case ("g", 5):
            return grantChange(texts).map { .grantsChanged($0) }
        case ("r", 2):
            return Int64(texts[1]).map { .rightsChanged(UserID(texts[0]), at: Timestamp(milliseconds: $0)) }
        case ("m", 1): return .readMarksChanged(UserID(texts[0]))
        case ("s", 2...): return .deliveries(MessageID(texts[0]), texts.dropFirst().map { DeviceID($0) })
        case (_, 2...): break
        default: return nil
        }
        if let change = JournalEntry.Change(rawValue: kind) {
            return .records(change, model: texts[0], owner: fields[2], ids: Array(texts.dropFirst(2)))
        }
        guard let change = JournalEntry.Change(rawValue: kind.lowercased()) else { return nil }
        var values: [String: FieldValue] = [:]
        for index in stride(from: 2, to: texts.count - 1, by: 2) { values[texts[index]] = value(texts[index + 1]) }
        return .values(change, model: texts[0], owner: fields[2], fields: values)
    }

    private static func grantChange(_ texts: [String]) -> GrantChange? {
        guard let subject = GrantSubject(text: texts[0]), let roles = Int64(texts[3]) else { return nil }
        let end = Int64(texts[4]).map { Timestamp(milliseconds: $0) }
        return GrantChange(subject, TopicID(texts[1]), texts[2], TopicRole(rawValue: roles), end)
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
