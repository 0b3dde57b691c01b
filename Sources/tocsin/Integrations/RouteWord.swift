import JSON

/// A word of a route as people write it: of bare texts, and of texts in quotes.
///
/// What is in quotes is a string of JSON.
struct RouteWord {
    struct Part {
        var text: String
        var isQuoted: Bool
    }

    private(set) var parts: [Part] = []

    /// Takes the word that the bytes begin with.
    ///
    /// Nil where a quote has no end, or what is in quotes is no string of JSON.
    init?(beginning rest: inout ArraySlice<UInt8>) {
        while let first = rest.first, first != Self.space {
            if first == Self.quote {
                guard let end = Self.endOfQuoted(rest),
                    let text = (try? JSONParser.parse(rest[...end]))?.stringValue
                else { return nil }
                parts.append(Part(text: text, isQuoted: true))
                rest = rest[(end + 1)...]
            } else {
                let bare = rest.prefix { $0 != Self.space && $0 != Self.quote }
                parts.append(Part(text: String(decoding: bare, as: UTF8.self), isQuoted: false))
                rest.removeFirst(bare.count)
            }
        }
    }

    /// The word without its quotes.
    var text: String { parts.map(\.text).joined() }

    /// The word, where nothing of it is in quotes.
    var bare: String? { parts.contains(where: \.isQuoted) ? nil : text }

    /// What is before and behind the first of these bytes outside of quotes; nil: there is none.
    func split(at sign: UInt8) -> (before: [Part], behind: [Part])? {
        for (index, part) in parts.enumerated() where !part.isQuoted {
            guard let place = part.text.utf8.firstIndex(of: sign) else { continue }
            let before = Part(text: String(part.text[..<place]), isQuoted: false)
            let behind = Part(text: String(part.text[part.text.utf8.index(after: place)...]), isQuoted: false)
            return (
                parts[..<index] + (before.text.isEmpty ? [] : [before]),
                (behind.text.isEmpty ? [] : [behind]) + parts[(index + 1)...]
            )
        }
        return nil
    }

    /// Whether a text is read back as it is without quotes, and shows as it is.
    static func isBare(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 != "\"" && !$0.properties.isWhitespace && Terminal.isHarmless($0)
            }
    }

    /// A text as a string of JSON, in which what does not show is escaped.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where Terminal.isHarmless(scalar): quoted.unicodeScalars.append(scalar)
            default:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return quoted + "\""
    }

    private static func endOfQuoted(_ bytes: ArraySlice<UInt8>) -> Int? {
        var index = bytes.startIndex + 1
        while index < bytes.endIndex {
            switch bytes[index] {
            case quote: return index
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }

    private static let (space, quote) = (UInt8(ascii: " "), UInt8(ascii: "\""))
}
