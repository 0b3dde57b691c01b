/// The text of a stored JSON list, searched without building its values: filters ask only whether a text is a member.
struct JSONListText {
    private let bytes: String.UTF8View

    /// The text must be valid JSON: the API writes nothing else.
    init(_ text: String) {
        bytes = text.utf8
    }

    /// Whether the list has this text as a member of its own, not of an inner list or object.
    func containsText(_ text: String) -> Bool {
        var depth = 0
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "\""):
                let content = Self.content(&iterator)
                if depth == 1, content.elementsEqual(text.utf8) { return true }
            default: continue
            }
        }
        return false
    }

    /// A list of one text.
    static func list(of text: String) -> FieldValue {
        var json = "[\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": json += "\\" + String(scalar)
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return .json(json + "\"]")
    }

    /// The members of both lists, those of the first before those of the second.
    static func joined(_ first: String, _ second: String) -> String {
        let (left, right) = (inside(first), inside(second))
        return "[" + left + (left.isEmpty || right.isEmpty ? "" : ",") + right + "]"
    }

    private static func inside(_ list: String) -> Substring {
        guard list.hasPrefix("["), list.hasSuffix("]") else { return Substring(list) }
        return list.dropFirst().dropLast()
    }

    /// The unescaped bytes of a string whose opening quote has been read (RFC 8259 §7).
    private static func content(_ iterator: inout String.UTF8View.Iterator) -> [UInt8] {
        var content: [UInt8] = []
        while let byte = iterator.next(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                content.append(byte)
                continue
            }
            switch iterator.next() {
            case UInt8(ascii: "b"): content.append(0x08)
            case UInt8(ascii: "f"): content.append(0x0C)
            case UInt8(ascii: "n"): content.append(0x0A)
            case UInt8(ascii: "r"): content.append(0x0D)
            case UInt8(ascii: "t"): content.append(0x09)
            case UInt8(ascii: "u"): content += utf8(ofEscape: &iterator)
            case let plain?: content.append(plain)
            case nil: break
            }
        }
        return content
    }

    private static func utf8(ofEscape iterator: inout String.UTF8View.Iterator) -> [UInt8] {
        let first = codeUnit(&iterator)
        guard (0xD800...0xDBFF).contains(first) else { return utf8(of: first) }
        // A valid text goes on with `\u` and the low surrogate.
        _ = (iterator.next(), iterator.next())
        let low = codeUnit(&iterator)
        guard (0xDC00...0xDFFF).contains(low) else { return [] }
        return utf8(of: 0x10000 + (first - 0xD800) << 10 + (low - 0xDC00))
    }

    private static func codeUnit(_ iterator: inout String.UTF8View.Iterator) -> UInt32 {
        (0..<4).reduce(0) { value, _ in
            let digit = iterator.next().flatMap { Character(UnicodeScalar($0)).hexDigitValue } ?? 0
            return value << 4 | UInt32(digit)
        }
    }

    private static func utf8(of value: UInt32) -> [UInt8] {
        UnicodeScalar(value).map { Array(UTF8.encode($0) ?? .init()) } ?? []
    }
}
