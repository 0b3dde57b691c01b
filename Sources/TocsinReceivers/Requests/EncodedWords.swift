import Encodings

/// Encoded words of headers (RFC 2047): `=?utf-8?B?…?=`.
package enum EncodedWords {
    /// The text of a header's value; what is no encoded word stays as it is.
    package static func decoded(_ text: String) -> String {
        guard text.contains("=?"), text.utf8.count <= 65_536 else { return text }
        let bytes = Array(text.utf8)
        var (output, position, wasWord) = ([UInt8](), 0, false)
        // Words of one charset may part a character between them: their bytes are joined first.
        var (pending, charset): ([UInt8], String) = ([], "")
        func flush() {
            guard !pending.isEmpty else { return }
            output += Array(MailCharset.text(pending, charset: charset).utf8)
            pending = []
        }
        while position < bytes.count {
            if let word = word(bytes, at: position) {
                if word.charset != charset { flush() }
                charset = word.charset
                pending += word.bytes
                (position, wasWord) = (word.end, true)
                continue
            }
            // Space between two words is not theirs.
            if wasWord, let next = bytes[position...].firstIndex(where: { $0 != 0x20 && $0 != 0x09 }),
                next > position, self.word(bytes, at: next) != nil
            {
                position = next
                continue
            }
            flush()
            output.append(bytes[position])
            (position, wasWord) = (position + 1, false)
        }
        flush()
        return String(decoding: output, as: UTF8.self)
    }

    private static func word(_ bytes: [UInt8], at start: Int) -> (charset: String, bytes: [UInt8], end: Int)? {
        guard start + 8 <= bytes.count, bytes[start] == UInt8(ascii: "="), bytes[start + 1] == UInt8(ascii: "?") else {
            return nil
        }
        // RFC 2047 §2 has 75 characters at most; some senders write longer ones.
        let question = UInt8(ascii: "?")
        let end = min(bytes.count, start + 2000)
        guard let afterCharset = bytes[(start + 2)..<end].firstIndex(of: question), afterCharset + 3 < end,
            bytes[afterCharset + 2] == question,
            let close = bytes[(afterCharset + 3)..<end].firstIndex(of: question), close + 1 < bytes.count,
            bytes[close + 1] == UInt8(ascii: "=")
        else { return nil }
        let charset = String(decoding: bytes[(start + 2)..<afterCharset], as: UTF8.self).lowercased()
        let text = bytes[(afterCharset + 3)..<close]
        let decoded: [UInt8]?
        switch bytes[afterCharset + 1] | 0x20 {
        case UInt8(ascii: "b"): decoded = Base64URL.decodedPasted(String(decoding: text, as: UTF8.self))
        case UInt8(ascii: "q"):
            decoded = QuotedPrintable.decoded(text.map { $0 == UInt8(ascii: "_") ? 0x20 : $0 })
        default: decoded = nil
        }
        guard let decoded else { return nil }
        return (String(charset.split(separator: "*").first ?? ""), decoded, close + 2)
    }
}
