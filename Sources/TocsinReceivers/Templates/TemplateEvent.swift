import JSON
import TocsinCore

/// The members of an event, as templates.
struct TemplateEvent: Sendable {
    private let members: [(name: String, template: Template)]

    /// All that an event may have.
    static let names = [
        "action", "alerts", "body", "category", "collapseKey", "data", "image", "key", "labels", "links", "messageKey",
        "occurredAt", "priority", "severity", "title", "truncatedAlerts", "url",
    ]

    /// What says nothing when none of its places does.
    private static let namingOnes: Set<String> = ["collapseKey", "image", "key", "messageKey", "title", "url"]

    init(_ value: JSONValue, zones: @escaping ZoneLookup) throws(TemplateProblem) {
        guard let declared = value.objectValue else {
            throw TemplateProblem("an event is an object with \"action\" and \"title\"")
        }
        var members: [(name: String, template: Template)] = []
        for member in declared {
            guard Self.names.contains(member.key) else {
                throw TemplateProblem(
                    "\"\(member.key)\" means nothing here. Known are \(Self.names.joined(separator: ", "))"
                )
            }
            let template = try inside(member.key) { () throws(TemplateProblem) in
                let template = try Template(member.value, .receiver, zones: zones)
                try Self.check(template, of: member.key)
                return template
            }
            members.append((member.key, template))
        }
        let action = declared["action"] ?? .null
        guard !action.isNull else {
            throw TemplateProblem("\"action\" is missing. Write one of \(Self.actions)")
        }
        if declared["title"] == nil, action != "ignore" {
            throw TemplateProblem("\"title\" is missing: one line for people, like \"{name} is down\"")
        }
        guard declared["priority"] == nil || declared["severity"] == nil else {
            throw TemplateProblem("\"priority\" and \"severity\" say the same. Write one of them")
        }
        self.members = members
    }

    private static let actions = SenderEvent.Action.allCases.map(\.rawValue).joined(separator: ", ")

    /// What can be told of a member before anything was sent.
    private static func check(_ template: Template, of name: String) throws(TemplateProblem) {
        if case .choice(_, let words, let otherwise) = template {
            for meaning in words.values { try check(meaning, of: name) }
            // Without a default it is the place itself, which fits as little as it is known.
            return try check(otherwise, of: name)
        }
        switch (name, template) {
        case ("action", .constant(let value)):
            guard value.stringValue.flatMap(SenderEvent.Action.init(rawValue:)) != nil else {
                throw TemplateProblem("\(value.serializedString()) is no action. Write one of \(actions)")
            }
        case ("priority", .constant(let value)):
            guard value.isNull || value.intValue.map({ (1...5).contains($0) }) == true else {
                throw TemplateProblem("\(value.serializedString()) is no priority. Write 1 (min) to 5 (critical)")
            }
        case ("severity", .constant(let value)):
            guard value.isNull || value.stringValue.flatMap(SeverityWords.priority(of:)) != nil else {
                throw TemplateProblem(
                    "\(value.serializedString()) is no severity that is known. Write critical, error, warning, info or debug"
                )
            }
        case ("labels", .constant), ("labels", .array), ("labels", .text), ("data", .constant), ("data", .array),
            ("data", .text):
            throw TemplateProblem("it must be an object of texts, like {\"host\": \"{host.name}\"}")
        case ("links", .constant), ("links", .text), ("links", .object):
            throw TemplateProblem("it must be a list of {\"text\", \"url\"}, or \"each\" with \"give\"")
        case ("alerts", .constant), ("alerts", .text), ("alerts", .object):
            throw TemplateProblem("it must be a list of {\"fingerprint\", \"firing\", \"title\", \"labels\", \"url\"}")
        default: break
        }
    }

    /// All placeholders.
    var placeholders: [TemplatePlaceholder] { members.flatMap(\.template.placeholders).map(\.placeholder) }

    /// Those that look into an item that no list of the event gives.
    var looseOfItem: [TemplatePlaceholder] {
        members.flatMap(\.template.placeholders).filter { $0.list == nil }.map(\.placeholder).filter(\.isOfItem)
    }

    /// The event for what the run has at hand.
    func event(in run: inout TemplateRun, trouble: inout TemplateTrouble) -> SenderEvent {
        var values: [String: JSONValue] = [:]
        for member in members {
            let isName = Self.namingOnes.contains(member.name)
            values[member.name] = isName ? run.fillNamed(member.template) : run.fill(member.template)
        }
        trouble.sources = Dictionary(
            members.map { ($0.name, $0.template.placeholders.first?.placeholder.source ?? "") },
            uniquingKeysWith: { $1 }
        )
        return EventMaking(values: values).event(&trouble)
    }
}
