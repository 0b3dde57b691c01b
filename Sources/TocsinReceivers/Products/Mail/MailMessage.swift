import Encodings
import TocsinCore

/// A mail (RFC 5322) with its parts (RFC 2045, RFC 2046), read for what people see of it.
struct MailMessage {
    private let headers: MailHeaders
    private var plain: String?
    private var html: String?
    private var attachments: [String] = []

    private static let maximumDepth = 8
    private static let maximumParts = 100

    init(_ bytes: [UInt8]) {
        var text = bytes[...]
        // The line that mailboxes put before each mail.
        if text.starts(with: "From ".utf8) {
            text = text.firstIndex(of: UInt8(ascii: "\n")).map { text[($0 + 1)...] } ?? text
        }
        // A text whose first line is no header has none at all.
        let first = text.prefix { $0 != UInt8(ascii: "\n") }
        let name = first.prefix { $0 != UInt8(ascii: ":") }
        let isHeader = name.count < first.count && !name.isEmpty && name.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        let split = isHeader ? MailHeaders.split(text) : (headers: MailHeaders(), body: text)
        headers = split.headers
        readPart(split.headers, split.body, depth: 0)
    }

    /// The event that it is.
    func event(_ notes: inout [String]) -> SenderEvent {
        var event = SenderEvent(.log, title: headers.first("Subject") ?? "", body: body)
        event.priority = priority
        for name in ["From", "To", "List-Id", "Auto-Submitted"] {
            event.labels[name.lowercased()] = headers.first(name)
        }
        event.occurredAt = headers.raw("Date").flatMap(MailDate.read)
        event.messageKey = headers.raw("Message-ID")
        guard let key = headers.first("X-Tocsin-Incident"), !key.isEmpty else { return event }
        let word = headers.first("X-Tocsin-Action")?.lowercased() ?? "trigger"
        if let action = SenderEvent.Action(rawValue: word) {
            (event.action, event.key) = (action, key)
        } else {
            notes.append("'X-Tocsin-Action' is no action: a plain message was made.")
        }
        return event
    }

    private var body: String {
        var text = (plain ?? html.map(HTMLText.plain) ?? "").withoutControls.trimmed
        if !attachments.isEmpty {
            text += (text.isEmpty ? "" : "\n\n") + "Attachments: " + attachments.joined(separator: ", ")
        }
        return text
    }

    /// `X-Priority` 1 (highest) to 5, or `Importance`.
    private var priority: Int? {
        if let digit = headers.raw("X-Priority")?.utf8.first, (0x31...0x35).contains(digit) {
            return 6 - Int(digit - 0x30)
        }
        switch headers.raw("Importance")?.lowercased() {
        case "high": return 4
        case "normal": return 3
        case "low": return 2
        default: return nil
        }
    }

    private mutating func readPart(_ headers: MailHeaders, _ body: ArraySlice<UInt8>, depth: Int) {
        let type = headers.raw("Content-Type") ?? "text/plain"
        let mediaType = (type.split(separator: ";").first.map { String($0).trimmed } ?? "").lowercased()
        if mediaType.hasPrefix("multipart/"), depth < Self.maximumDepth {
            guard let boundary = MailHeaders.parameter("boundary", of: type) else { return }
            for part in MultipartText.parts(of: body, boundary: boundary, maximum: Self.maximumParts) {
                let split = MailHeaders.split(part)
                readPart(split.headers, split.body, depth: depth + 1)
            }
            return
        }
        let disposition = headers.raw("Content-Disposition") ?? ""
        let name = MailHeaders.parameter("filename", of: disposition) ?? MailHeaders.parameter("name", of: type)
        let isText = mediaType == "text/plain" || mediaType == "text/html"
        guard isText, !disposition.lowercased().hasPrefix("attachment") else {
            if attachments.count < 20 {
                attachments.append(EncodedWords.decoded(name ?? mediaType).onOneLine.cut(toBytes: 128, mark: "…"))
            }
            return
        }
        if mediaType == "text/plain" ? plain != nil : html != nil { return }
        let charset = MailHeaders.parameter("charset", of: type) ?? "utf-8"
        let text = MailCharset.text(Self.decoded(body, headers.raw("Content-Transfer-Encoding")), charset: charset)
        if mediaType == "text/plain" { plain = text } else { html = text }
    }

    private static func decoded(_ body: ArraySlice<UInt8>, _ encoding: String?) -> [UInt8] {
        switch encoding?.lowercased() {
        case "quoted-printable": return QuotedPrintable.decoded(body)
        case "base64":
            // What is no sign of base 64 is skipped (RFC 2045 §6.8).
            let signs = body.filter {
                ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || (0x2F...0x39).contains($0) || $0 == 0x2B
            }
            let whole = signs.prefix(signs.count - (signs.count % 4 == 1 ? 1 : 0))
            return Base64URL.decodedPasted(String(decoding: whole, as: UTF8.self)) ?? Array(body)
        default: return Array(body)
        }
    }
}
