import JSON
import TocsinCore

/// What must hold for a rule to count.
indirect enum TemplateCondition: Sendable {
    /// The place's text is one of these, in any case; nil stands for null.
    case matches(TemplatePlaceholder, [String?])
    /// The place's text has one of these patterns.
    case like(TemplatePlaceholder, [[Character]])
    /// The place has something, or has nothing.
    case exists(TemplatePlaceholder, Bool)
    /// The place is a number above this.
    case above(TemplatePlaceholder, Double)
    case not(TemplateCondition)
    case any([TemplateCondition])
    case all([TemplateCondition])

    private static let form =
        "a condition is {\"place\": \"{status}\"} with one of \"is\", \"like\", \"exists\" and \"above\", or {\"not\": {…}}, "
        + "or {\"any\": […]}"
    private static let maximumDepth = 8

    /// Reads a condition, or a list of which all must hold.
    init(_ value: JSONValue, zones: @escaping ZoneLookup, depth: Int = 0) throws(TemplateProblem) {
        guard depth < Self.maximumDepth else {
            throw TemplateProblem("conditions stand in each other more than \(Self.maximumDepth) deep")
        }
        if let items = value.arrayValue {
            self = .all(try Self.list(items, zones, depth))
            return
        }
        guard let members = value.objectValue, let first = members.keys.first else { throw TemplateProblem(Self.form) }
        switch (first, members.count) {
        case ("not", 1):
            self = .not(try Self(members["not"] ?? .null, zones: zones, depth: depth + 1))
        case ("any", 1):
            guard let items = members["any"]?.arrayValue, !items.isEmpty else {
                throw TemplateProblem("\"any\" is a list of conditions")
            }
            self = .any(try Self.list(items, zones, depth))
        default: self = try Self.test(members, zones)
        }
    }

    private static func list(
        _ items: [JSONValue],
        _ zones: @escaping ZoneLookup,
        _ depth: Int
    ) throws(TemplateProblem) -> [TemplateCondition] {
        var conditions: [TemplateCondition] = []
        for item in items { conditions.append(try TemplateCondition(item, zones: zones, depth: depth + 1)) }
        return conditions
    }

    private static func test(
        _ members: JSONObject,
        _ zones: @escaping ZoneLookup
    ) throws(TemplateProblem) -> TemplateCondition {
        guard members.count == 2, let text = members["place"]?.stringValue,
            let name = members.keys.first(where: { $0 != "place" }), let wanted = members[name]
        else { throw TemplateProblem(form) }
        guard case .placeholder(let place) = try Template(.string(text), .receiver, zones: zones) else {
            throw TemplateProblem("\"place\" must be one placeholder alone, like \"{status}\", not \"\(text)\"")
        }
        switch (name, wanted) {
        case ("is", _):
            let values = wanted.arrayValue ?? [wanted]
            guard !values.isEmpty, values.allSatisfy({ $0.arrayValue == nil && $0.objectValue == nil }) else {
                throw TemplateProblem("\"is\" must be a text, a number, true, false or null, or a list of them")
            }
            return .matches(place, values.map { $0.isNull ? nil : $0.plainText.lowercased() })
        case ("like", _):
            let patterns = (wanted.arrayValue ?? [wanted]).map(\.stringValue)
            let texts = patterns.compactMap(\.self)
            guard !texts.isEmpty, texts.count == patterns.count, texts.allSatisfy({ $0.count <= 256 }) else {
                throw TemplateProblem(
                    "\"like\" must be a text of at most 256 characters with * and ?, or a list of them"
                )
            }
            return .like(place, texts.map { Array($0.lowercased()) })
        case ("exists", .bool(let isThere)): return .exists(place, isThere)
        case ("exists", _): throw TemplateProblem("\"exists\" must be true or false")
        case ("above", _):
            guard let number = wanted.doubleValue else { throw TemplateProblem("\"above\" must be a number") }
            return .above(place, number)
        default: throw TemplateProblem("\"\(name)\" means nothing in a condition: \(form)")
        }
    }

    /// All placeholders.
    var placeholders: [TemplatePlaceholder] {
        switch self {
        case .matches(let place, _), .like(let place, _), .exists(let place, _), .above(let place, _): [place]
        case .not(let inner): inner.placeholders
        case .any(let inner), .all(let inner): inner.flatMap(\.placeholders)
        }
    }

    /// Whether it holds.
    func holds(in run: inout TemplateRun) -> Bool {
        switch self {
        case .matches(let place, let wanted):
            let value = run.value(of: place)
            return wanted.contains(value.isNull ? nil : value.plainText.lowercased())
        case .like(let place, let patterns):
            let text = Array(run.value(of: place).plainText.lowercased().prefix(4096))
            return patterns.contains { pattern in
                run.spend(1 + text.count / 32)
                return Self.matches(text, pattern)
            }
        case .exists(let place, let isThere): return run.value(of: place).isEmpty != isThere
        case .above(let place, let limit):
            let value = run.value(of: place)
            return (value.doubleValue ?? value.stringValue.flatMap(Double.init) ?? -.infinity) > limit
        case .not(let inner): return !inner.holds(in: &run)
        case .any(let inner):
            for condition in inner where condition.holds(in: &run) { return true }
            return false
        case .all(let inner):
            for condition in inner where !condition.holds(in: &run) { return false }
            return true
        }
    }

    /// Whether a text has a pattern of `*` and `?`, in at most text × pattern steps.
    private static func matches(_ text: [Character], _ pattern: [Character]) -> Bool {
        var (at, of) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while at < text.count {
            if of < pattern.count, pattern[of] == "*" {
                star = (of, at)
                of += 1
            } else if of < pattern.count, pattern[of] == "?" || pattern[of] == text[at] {
                (at, of) = (at + 1, of + 1)
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                (of, at) = (last.pattern + 1, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[of...].allSatisfy { $0 == "*" }
    }
}
