/// The headers of a mail or of a part of one (RFC 5322 §2.2), in order.
package struct MailHeaders: Sendable, Equatable {
    private var items: [ReceiverRequest.Item] = []

    /// More are not read.
    static let maximum = 1000

    /// The first header of this name, unfolded, encoded words as text.
    package func first(_ name: String) -> String? {
        raw(name).map { EncodedWords.decoded($0) }
    }

    /// The first header of this name, unfolded, as it was sent.
    func raw(_ name: String) -> String? {
        let name = name.lowercased()
        return items.first { $0.name.lowercased() == name }?.value
    }

    /// Headers and body of a text, parted by its first empty line.
    package static func split(_ text: ArraySlice<UInt8>) -> (headers: MailHeaders, body: ArraySlice<UInt8>) {
        var headers = MailHeaders()
        var position = text.startIndex
        while position < text.endIndex {
            let end = text[position...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.endIndex
            var line = text[position..<end]
            while let last = line.last, last == 0x0A || last == 0x0D { line.removeLast() }
            position = end
            if line.isEmpty { break }
            headers.add(line)
        }
        return (headers, text[position...])
    }

    private mutating func add(_ line: ArraySlice<UInt8>) {
        let text = String(decoding: line, as: UTF8.self)
        if line.first == 0x20 || line.first == 0x09 {
            guard let last = items.indices.last, items[last].value.utf8.count < 65_536 else { return }
            items[last].value += " " + text.trimmed
            return
        }
        guard items.count < Self.maximum, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(text[..<colon]).trimmed
        items.append(ReceiverRequest.Item(name, String(text[text.utf8.index(after: colon)...]).trimmed))
    }

    /// A parameter of a header's value: of `text/plain; charset="utf-8"` the charset.
    package static func parameter(_ name: String, of value: String) -> String? {
        for part in pieces(value).dropFirst() {
            let halves = part.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
            guard halves.count == 2, halves[0].lowercased() == name else { continue }
            guard halves[1].hasPrefix("\""), halves[1].utf8.count > 1 else { return halves[1] }
            var text = halves[1].dropFirst()
            if text.hasSuffix("\"") { text.removeLast() }
            return String(text).replacing("\\\"", with: "\"")
        }
        return nil
    }

    /// The parts of a value between its semicolons, quoted ones left alone.
    private static func pieces(_ value: String) -> [String] {
        var (pieces, isQuoted, isEscaped) = ([""], false, false)
        for character in value.unicodeScalars {
            if character == ";", !isQuoted, pieces.count < 100 {
                pieces.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && !isEscaped
            pieces[pieces.count - 1].unicodeScalars.append(character)
        }
        return pieces
    }
}
