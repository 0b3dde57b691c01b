package import JSON

/// JSON with placeholders to fill: `{placeholder}` in its texts, `{"each": "{list}", "give": …}`
/// for the items of a list, and in receivers `{"from", "words", "default"}`.
///
/// A text that is one placeholder alone becomes the placeholder's value, whatever its type.
package indirect enum Template: Sendable {
    case constant(JSONValue)
    case placeholder(TemplatePlaceholder)
    case text([Part])
    case array([Template])
    case object([(key: String, value: Template)])
    case each(TemplatePlaceholder, give: Template)
    case choice(from: Template, words: WordTable<Template>, otherwise: Template)

    /// A piece of a text.
    package enum Part: Sendable {
        case words(String)
        case placeholder(TemplatePlaceholder)
    }

    /// Reads a template; whether `{.field}` stands inside of what lists give is for the caller to
    /// judge.
    package init(
        _ value: JSONValue,
        _ dialect: TemplateDialect,
        zones: @escaping ZoneLookup = { _ in nil }
    ) throws(TemplateProblem) {
        switch value {
        case .string(let text):
            var reader = TemplateTextReader(text, dialect, zones: zones)
            self = Self.text(of: try reader.parts())
        case .array(let values):
            var items: [Template] = []
            for value in values { items.append(try Template(value, dialect, zones: zones)) }
            self = .array(items)
        case .object(let members):
            if members["each"] != nil, members["give"] != nil {
                self = try Self.list(members, dialect, zones)
            } else if dialect.hasChoices, members["from"] != nil, members["words"] != nil || members["default"] != nil {
                self = try Self.choice(members, dialect, zones)
            } else {
                var filled: [(key: String, value: Template)] = []
                for member in members {
                    filled.append((member.key, try Template(member.value, dialect, zones: zones)))
                }
                self = .object(filled)
            }
        default: self = .constant(value)
        }
    }

    private static func text(of parts: [Part]) -> Template {
        guard parts.count <= 1 else { return .text(parts) }
        switch parts.first {
        case .placeholder(let placeholder)?: return .placeholder(placeholder)
        case .words(let words)?: return .constant(.string(words))
        case nil: return .constant("")
        }
    }

    private static func list(
        _ members: JSONObject,
        _ dialect: TemplateDialect,
        _ zones: @escaping ZoneLookup
    ) throws(TemplateProblem) -> Template {
        guard members.count == 2, case .string? = members["each"],
            case .placeholder(let list) = try Template(members["each"] ?? .null, dialect, zones: zones)
        else {
            throw TemplateProblem(
                "\"each\" is the placeholder of a list alone, like \"{history.items}\", and goes with \"give\""
            )
        }
        return .each(list, give: try Template(members["give"] ?? .null, dialect, zones: zones))
    }

    private static func choice(
        _ members: JSONObject,
        _ dialect: TemplateDialect,
        _ zones: @escaping ZoneLookup
    ) throws(TemplateProblem) -> Template {
        for name in members.keys where !["from", "words", "default"].contains(name) {
            throw TemplateProblem("\"\(name)\" means nothing beside \"from\". Known are default, from, words")
        }
        guard let words = (members["words"] ?? [:]).objectValue else {
            throw TemplateProblem("\"words\" must be an object: what senders write, and what it means")
        }
        let from = try Template(members["from"] ?? .null, dialect, zones: zones)
        switch from {
        case .placeholder, .text: break
        default: throw TemplateProblem("\"from\" must be a text with a placeholder, like \"{status}\"")
        }
        var table = WordTable<Template>()
        for word in words { table[word.key] = try Template(word.value, dialect, zones: zones) }
        // Without a default, other words are passed on as they are.
        let otherwise = try members["default"].map { (value) throws(TemplateProblem) in
            try Template(value, dialect, zones: zones)
        }
        return .choice(from: from, words: table, otherwise: otherwise ?? from)
    }

    /// All placeholders, those of items with the list they belong to.
    package var placeholders: [(placeholder: TemplatePlaceholder, list: TemplatePlaceholder?)] {
        switch self {
        case .constant: []
        case .placeholder(let placeholder): [(placeholder, nil)]
        case .text(let parts):
            parts.compactMap { part in
                if case .placeholder(let placeholder) = part { (placeholder, nil) } else { nil }
            }
        case .array(let items): items.flatMap(\.placeholders)
        case .object(let members): members.flatMap(\.value.placeholders)
        case .each(let list, let give): [(list, nil)] + give.placeholders.map { ($0.placeholder, $0.list ?? list) }
        case .choice(let from, let words, let otherwise):
            from.placeholders + words.values.flatMap(\.placeholders) + otherwise.placeholders
        }
    }
}
