import JSON

/// JSON with placeholders to fill: `{placeholder}` in its texts, and
/// `{"each": "{list}", "give": …}` for the items of a list.
///
/// A text that is one placeholder alone becomes the placeholder's value, whatever its type.
indirect enum RouteTemplate: Sendable {
    case constant(JSONValue)
    case placeholder(RoutePlaceholder)
    case text([Part])
    case array([RouteTemplate])
    case object([(key: String, value: RouteTemplate)])
    case each(RoutePlaceholder, give: RouteTemplate)

    enum Part: Sendable {
        case words(String)
        case placeholder(RoutePlaceholder)
    }

    /// Reads a template, with `{.field}` only inside of what lists give.
    init(_ value: JSONValue) throws(RouteProblem) {
        switch value {
        case .string(let text): self = try Self.parsed(text)
        case .array(let values):
            var items: [RouteTemplate] = []
            for value in values { items.append(try RouteTemplate(value)) }
            self = .array(items)
        case .object(let members):
            if members["each"] != nil, members["give"] != nil {
                self = try Self.list(members)
                return
            }
            var filled: [(key: String, value: RouteTemplate)] = []
            for member in members { filled.append((member.key, try RouteTemplate(member.value))) }
            self = .object(filled)
        default: self = .constant(value)
        }
    }

    private static func list(_ members: JSONObject) throws(RouteProblem) -> RouteTemplate {
        guard members.count == 2, case .string(let text)? = members["each"],
            case .placeholder(let placeholder) = try parsed(text)
        else {
            throw RouteProblem(
                "\"each\" is the placeholder of a list alone, like \"{history.items}\", and goes with \"give\""
            )
        }
        return .each(placeholder, give: try RouteTemplate(members["give"] ?? .null))
    }

    private static func parsed(_ text: String) throws(RouteProblem) -> RouteTemplate {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            let after = rest.index(after: open)
            guard rest[open] == "{", let close = rest[after...].firstIndex(where: { $0 == "{" || $0 == "}" }),
                rest[close] == "}"
            else {
                throw RouteProblem(
                    "\"\(text)\" has a brace without its other half. Write placeholders as {field.field}"
                )
            }
            if open > rest.startIndex { parts.append(.words(String(rest[..<open]))) }
            parts.append(.placeholder(try RoutePlaceholder(rest[after..<close])))
            rest = rest[rest.index(after: close)...]
        }
        if parts.isEmpty { return .constant(.string(text)) }
        if parts.count == 1, rest.isEmpty, case .placeholder(let placeholder) = parts[0] {
            return .placeholder(placeholder)
        }
        if !rest.isEmpty { parts.append(.words(String(rest))) }
        return .text(parts)
    }

    /// All placeholders, those of items with the list they belong to.
    var placeholders: [(placeholder: RoutePlaceholder, list: RoutePlaceholder?)] {
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
        }
    }

    /// The JSON for one request.
    func filled(_ scope: RouteScope) -> JSONValue {
        switch self {
        case .constant(let value): return value
        case .placeholder(let placeholder): return scope[placeholder]
        case .text(let parts):
            return .string(
                parts.map { part in
                    switch part {
                    case .words(let words): words
                    case .placeholder(let placeholder): scope[placeholder].plainText
                    }
                }.joined()
            )
        case .array(let items): return .array(items.map { $0.filled(scope) })
        case .object(let members): return .object(JSONObject(members.map { ($0.key, $0.value.filled(scope)) }))
        case .each(let list, let give):
            // An item that its reader may not see is null in a GraphQL list, and left out here.
            let items = (scope[list].arrayValue ?? []).filter { !$0.isNull }
            return .array(
                items.map { item in
                    var inner = scope
                    inner.item = item
                    return give.filled(inner)
                }
            )
        }
    }
}

extension JSONValue {
    /// The value inside a text: strings as they are, `null` as nothing, else JSON.
    var plainText: String {
        switch self {
        case .null: ""
        case .string(let text): text
        default: serializedString()
        }
    }
}
