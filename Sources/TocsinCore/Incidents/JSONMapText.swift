/// Writes JSON of texts, for columns that hold it.
enum JSONMapText {
    /// An object of texts, by name.
    static func object(_ members: [String: String]) -> String {
        object(members.sorted { $0.key < $1.key }.map { ($0.key, text($0.value)) })
    }

    /// An object of members whose values are JSON already.
    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { text($0.0) + ":" + $0.1 }.joined(separator: ",") + "}"
    }

    /// A list of values that are JSON already.
    static func list(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }

    /// A text with its quotes (RFC 8259 §7).
    static func text(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": json += "\\" + String(scalar)
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}
