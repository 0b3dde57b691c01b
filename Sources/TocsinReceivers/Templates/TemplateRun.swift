package import JSON

/// Fills templates for one request, within a budget.
///
/// A step is one member looked up, one filter, or 32 bytes of text. A run whose budget is used up
/// gives null for all that follows, and says so.
package struct TemplateRun {
    /// What placeholders are looked up in.
    package var scope: TemplateScope
    /// Whether the budget was too small.
    package private(set) var isExhausted = false
    private var stepsLeft: Int
    /// Texts are cut to so many bytes.
    let maximumTextBytes: Int
    /// The text that was read as JSON last: neighbouring places go into the same.
    private var parsed: (text: String, value: JSONValue)?

    /// A run with a budget; the usual one is that of the operator's own routes, without bounds.
    package init(_ scope: TemplateScope, steps: Int = .max, maximumTextBytes: Int = .max) {
        (self.scope, stepsLeft, self.maximumTextBytes) = (scope, steps, maximumTextBytes)
    }

    /// Takes steps from the budget; false: there are not so many.
    @discardableResult
    mutating func spend(_ steps: Int) -> Bool {
        guard !isExhausted, stepsLeft >= steps else {
            isExhausted = true
            return false
        }
        stepsLeft -= steps
        return true
    }

    /// The steps of reading a text once.
    static func steps(of text: String) -> Int { 1 + text.utf8.count / 32 }

    // MARK: Templates

    /// The JSON that a template becomes.
    package mutating func fill(_ template: Template) -> JSONValue {
        guard spend(1) else { return .null }
        switch template {
        case .constant(let value): return value
        case .placeholder(let placeholder): return bounded(value(of: placeholder))
        case .text(let parts): return .string(joined(parts))
        case .array(let items):
            var filled: [JSONValue] = []
            for item in items { filled.append(fill(item)) }
            return .array(filled)
        case .object(let members):
            var filled: JSONObject = [:]
            for member in members { filled[member.key] = fill(member.value) }
            return .object(filled)
        case .each(let list, let give): return .array(filled(give, for: list))
        case .choice(let from, let words, let otherwise):
            return fill(words[fill(from).plainText] ?? otherwise)
        }
    }

    /// As `fill`, but null for a text whose placeholders have nothing, such as the key
    /// `zabbix/{id}`.
    mutating func fillNamed(_ template: Template) -> JSONValue {
        if case .text(let parts) = template {
            var hasValue = false
            for case .placeholder(let placeholder) in parts where !hasValue {
                hasValue = !value(of: placeholder).plainText.trimmed.isEmpty
            }
            guard hasValue else { return .null }
        }
        return fill(template)
    }

    private mutating func joined(_ parts: [Template.Part]) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .words(let words): text += words
            case .placeholder(let placeholder): text += value(of: placeholder).plainText
            }
            guard text.utf8.count <= maximumTextBytes else { break }
        }
        spend(Self.steps(of: text))
        return text.cut(toBytes: maximumTextBytes, mark: "…")
    }

    private mutating func filled(_ give: Template, for list: TemplatePlaceholder) -> [JSONValue] {
        let outer = scope.item
        defer { scope.item = outer }
        var filled: [JSONValue] = []
        // An item that its reader may not see is null in a GraphQL list, and left out here.
        for item in value(of: list).arrayValue ?? [] where !item.isNull {
            scope.item = item
            filled.append(fill(give))
            if isExhausted { break }
        }
        return filled
    }

    private func bounded(_ value: JSONValue) -> JSONValue {
        guard case .string(let text) = value else { return value }
        return .string(text.cut(toBytes: maximumTextBytes, mark: "…"))
    }

    // MARK: Placeholders

    /// What a placeholder stands for; null where nothing is there.
    package mutating func value(of placeholder: TemplatePlaceholder) -> JSONValue {
        var value = value(of: placeholder.terms[0])
        for (joint, term) in zip(placeholder.joints, placeholder.terms.dropFirst()) {
            let isThere = joint == .ifNull ? !value.isNull : !value.isEmpty
            if !isThere { value = self.value(of: term) }
        }
        for filter in placeholder.filters {
            guard spend(1) else { return .null }
            value = filter.applied(to: value, in: &self)
        }
        return isExhausted ? .null : value
    }

    private mutating func value(of term: TemplatePlaceholder.Term) -> JSONValue {
        switch term {
        case .literal(let value): return value
        case .place(let place):
            var value = scope.value(of: place.root)
            for step in place.steps {
                guard spend(1) else { return .null }
                value = self.value(at: step, in: value)
            }
            return value
        }
    }

    private mutating func value(at step: TemplatePlace.Step, in value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members): return members[step.key] ?? .null
        case .array(let items):
            guard let position = step.position else { return .null }
            let index = position < 0 ? items.count + position : position
            return items.indices.contains(index) ? items[index] : .null
        case .string(let text):
            guard let inner = json(in: text) else { return .null }
            return self.value(at: step, in: inner)
        default: return .null
        }
    }

    /// The object or list that a text holds: forms and Amazon's SNS wrap JSON so.
    private mutating func json(in text: String) -> JSONValue? {
        if let parsed, parsed.text == text { return parsed.value }
        guard let first = text.utf8.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            spend(Self.steps(of: text)), let value = try? LenientJSON.parse(Array(text.utf8))
        else { return nil }
        parsed = (text, value)
        return value
    }
}

extension JSONValue {
    /// The value inside a text: strings as they are, `null` as nothing, else JSON.
    package var plainText: String {
        switch self {
        case .null: ""
        case .string(let text): text
        default: serializedString()
        }
    }

    /// Whether it says nothing: null, or a text, a list or an object with nothing in it.
    var isEmpty: Bool {
        switch self {
        case .null: true
        case .string(let text): text.isEmpty
        case .array(let items): items.isEmpty
        case .object(let members): members.isEmpty
        default: false
        }
    }
}
