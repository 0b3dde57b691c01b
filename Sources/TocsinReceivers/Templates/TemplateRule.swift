import JSON
import TocsinCore

/// When a request means something, and the event that it then makes.
struct TemplateRule: Sendable {
    let condition: TemplateCondition
    /// The list whose items make one event each.
    let each: TemplatePlaceholder?
    let event: TemplateEvent

    private static let members: Set<String> = ["when", "each", "event"]

    init(_ value: JSONValue, zones: @escaping ZoneLookup) throws(TemplateProblem) {
        guard let members = value.objectValue, let event = members["event"] else {
            throw TemplateProblem("a rule is an object with \"event\", and with \"when\" where it does not always hold")
        }
        for name in members.keys where !Self.members.contains(name) {
            throw TemplateProblem(
                "\"\(name)\" means nothing here. Known are \(Self.members.sorted().joined(separator: ", "))"
            )
        }
        condition = try inside("when") { () throws(TemplateProblem) in
            try TemplateCondition(members["when"] ?? [], zones: zones)
        }
        each = try members["each"].map { (value) throws(TemplateProblem) in try Self.list(value, zones) }
        self.event = try inside("event") { () throws(TemplateProblem) in try TemplateEvent(event, zones: zones) }
    }

    /// The placeholder of a list.
    static func list(_ value: JSONValue, _ zones: @escaping ZoneLookup) throws(TemplateProblem) -> TemplatePlaceholder {
        try inside("each") { () throws(TemplateProblem) in
            guard case .string? = Optional(value),
                case .placeholder(let list) = try Template(value, .receiver, zones: zones)
            else { throw TemplateProblem("it must be the placeholder of a list alone, like \"{alerts}\"") }
            return list
        }
    }

    /// All placeholders.
    var placeholders: [TemplatePlaceholder] {
        condition.placeholders + [each].compactMap(\.self) + event.placeholders
    }

    /// The first that looks into an item where there is none.
    var misplaced: TemplatePlaceholder? {
        if let outside = (condition.placeholders + [each].compactMap(\.self)).first(where: \.isOfItem) {
            return outside
        }
        return each == nil ? event.looseOfItem.first : nil
    }
}
