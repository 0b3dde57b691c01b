/// HTML as plain text.
package enum HTMLText {
    private static let breaks: Set<String> = [
        "br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "pre", "hr",
    ]
    private static let entities: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "euro": "€", "hellip": "…",
        "ndash": "–", "mdash": "—", "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü",
        "szlig": "ß", "eacute": "é", "egrave": "è", "agrave": "à", "ccedil": "ç", "middot": "·", "bull": "•",
        "copy": "©", "deg": "°", "times": "×", "rarr": "→", "larr": "←",
    ]

    private static let maximumTagBytes = 4096

    /// The text that a reader sees, a block a line.
    package static func plain(_ html: String) -> String {
        let bytes = Array(html.utf8)
        var (output, index) = ([UInt8](), 0)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "<"): index = readTag(bytes, at: index, &output)
            case UInt8(ascii: "&"): index = readEntity(bytes, at: index, &output)
            case 0x09, 0x0A, 0x0D, 0x20:
                if let last = output.last, last != 0x20, last != 0x0A { output.append(0x20) }
                index += 1
            case let byte:
                output.append(byte)
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map { String($0).trimmed }
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func readTag(_ bytes: [UInt8], at start: Int, _ output: inout [UInt8]) -> Int {
        if bytes[start...].starts(with: "<!--".utf8) { return end(of: "-->", bytes, from: start + 4) }
        let next = start + 1 < bytes.count ? bytes[start + 1] : 0
        let isTag = "/!?".utf8.contains(next) || (0x61...0x7A).contains(next | 0x20)
        guard isTag, let close = bytes[start...].prefix(maximumTagBytes).firstIndex(of: UInt8(ascii: ">")) else {
            output.append(bytes[start])
            return start + 1
        }
        let name = bytes[(start + 1)..<close].drop { $0 == UInt8(ascii: "/") }.prefix(10)
            .prefix { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
        let word = String(decoding: name, as: UTF8.self).lowercased()
        if breaks.contains(word) { output.append(0x0A) }
        if (word == "td" || word == "th"), let last = output.last, last != 0x0A { output.append(0x20) }
        guard ["script", "style", "head", "title"].contains(word), bytes[start + 1] != UInt8(ascii: "/") else {
            return close + 1
        }
        return end(of: "</\(word)", bytes, from: close + 1)
    }

    /// The position behind the next occurrence of a text in either case, or the end.
    private static func end(of text: String, _ bytes: [UInt8], from start: Int) -> Int {
        let wanted = Array(text.utf8)
        var index = start
        while index + wanted.count <= bytes.count {
            let found = bytes[index..<index + wanted.count].elementsEqual(wanted) {
                $0 == $1 || ((0x61...0x7A).contains($1) && $0 | 0x20 == $1)
            }
            if found {
                guard !text.hasSuffix(">") else { return index + wanted.count }
                return bytes[index...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
            }
            index += 1
        }
        return bytes.count
    }

    private static func readEntity(_ bytes: [UInt8], at start: Int, _ output: inout [UInt8]) -> Int {
        guard let end = bytes[(start + 1)...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            output.append(bytes[start])
            return start + 1
        }
        let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
        var text = entities[name]
        if name.hasPrefix("#") {
            let digits = name.dropFirst()
            let number =
                digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            text = number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
        }
        output += Array((text ?? "&\(name);").utf8)
        return end + 1
    }
}
