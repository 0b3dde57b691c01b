import TocsinCore

/// Members of the JSON column `extra`.
///
/// SQLite tells a value's type with the value. In PostgreSQL an expression has one type: a member
/// is compared as its field's kind and read as the JSON value that it is. Objects and lists are
/// kept as texts, so that they keep their spelling.
extension Dialect {
    /// The value of a member as it is compared and ordered, null when it is absent.
    func extraMember(_ name: String, _ kind: ModelField.Kind) -> String {
        switch self {
        case .sqlite: return "json_extract(extra, '$.\"\(name)\"')"
        case .postgres:
            let text = "(extra ->> '\(name)')"
            switch kind {
            case .text, .json: return text + " COLLATE \"C\""
            case .int, .double:
                return "CASE jsonb_typeof(extra -> '\(name)') WHEN 'number' THEN \(text)::numeric END"
            case .bool:
                return
                    "CASE extra -> '\(name)' WHEN 'true'::jsonb THEN 1::bigint WHEN 'false'::jsonb THEN 0::bigint END"
            }
        }
    }

    /// The value of a member as it is read, whatever it is.
    func readExtraMember(_ name: String, _ kind: ModelField.Kind) -> String {
        switch (self, kind) {
        case (.sqlite, _), (.postgres, .text), (.postgres, .json): extraMember(name, kind)
        case (.postgres, .int), (.postgres, .double), (.postgres, .bool): "(extra -> '\(name)')"
        }
    }

    /// `base` with these members set, each to the value that an expression gives.
    func settingMembers(_ members: [(name: String, value: String)], in base: String) -> String {
        guard !members.isEmpty else { return base }
        switch self {
        case .sqlite:
            let pairs = members.map { "'$.\"\($0.name)\"', \($0.value)" }
            return "json_set(\(base), \(pairs.joined(separator: ", ")))"
        case .postgres:
            let pairs = members.map { "'\($0.name)', \($0.value)" }
            // A function takes a hundred arguments at most.
            let objects = pairs.chunks(of: 40).map { "jsonb_build_object(\($0.joined(separator: ", ")))" }
            return "jsonb_strip_nulls(\(base)::jsonb || \(objects.joined(separator: " || ")))"
        }
    }

    /// The expression of a member's new value, bound as `boundMember` says.
    func memberValue(_ placeholder: String, _ kind: ModelField.Kind) -> String {
        switch (self, kind) {
        case (.sqlite, .text), (.sqlite, .int): placeholder
        // What is no JSON, stored under another schema, stays the text it was.
        case (.sqlite, .bool), (.sqlite, .double), (.sqlite, .json):
            "CASE WHEN json_valid(\(placeholder)) THEN json(\(placeholder)) ELSE \(placeholder) END"
        case (.postgres, .text), (.postgres, .json): "\(placeholder)::text"
        case (.postgres, .int), (.postgres, .double), (.postgres, .bool): "\(placeholder)::jsonb"
        }
    }

    /// A value as a member takes it: what `memberValue` reads as JSON goes as JSON text, so that a
    /// double keeps all its digits.
    func boundMember(_ value: FieldValue, _ kind: ModelField.Kind) -> SQLValue {
        switch value {
        case .bool(let flag): .text(flag ? "true" : "false")
        case .double(let number): number.isFinite ? .text(digits(number)) : .null
        case .int(let number): self == .postgres ? .text("\(number)") : .int(number)
        case .null: .null
        case .text(let text), .json(let text): isQuoted(kind) ? .text(Self.quoted(text)) : .text(text)
        }
    }

    /// PostgreSQL keeps a JSON number as its digits say: those of a whole
    /// number must say it exactly.
    private func digits(_ number: Double) -> String {
        guard self == .postgres, let whole = Int64(exactly: number) else { return "\(number)" }
        return "\(whole)"
    }

    /// Whether a text that stands where a number should must be made JSON.
    private func isQuoted(_ kind: ModelField.Kind) -> Bool {
        switch (self, kind) {
        case (.sqlite, _), (.postgres, .text), (.postgres, .json): false
        case (.postgres, .int), (.postgres, .double), (.postgres, .bool): true
        }
    }

    /// A text as JSON.
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain { return "\"" + text + "\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Joins the texts of a JSON list to the tables before it: rows of one column, `value`.
    func elements(of list: String, as name: String) -> String {
        switch self {
        case .sqlite: "CROSS JOIN json_each(\(list)) AS \(name)"
        case .postgres: "CROSS JOIN LATERAL json_array_elements_text(\(list)::json) AS \(name) (value)"
        }
    }

    /// Whether a JSON list has a text as a member.
    func membership(of text: String, inList list: String) -> String {
        switch self {
        case .sqlite:
            "EXISTS (SELECT 1 FROM json_each(\(list)) WHERE json_each.type = 'text' AND json_each.value = \(text))"
        case .postgres:
            // Lists are written by us: what does not begin like one is a text of another schema.
            "CASE WHEN \(list) LIKE '[%' THEN (\(list))::jsonb @> to_jsonb(ARRAY[\(text)::text]) END"
        }
    }
}
