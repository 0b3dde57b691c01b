package import JSON

/// A receiver written as data, compiled: rules that turn a sender's JSON into events.
package struct ReceiverTemplate: Sendable {
    /// What becomes of a request that no rule is for.
    package enum Otherwise: String, Sendable, CaseIterable {
        /// A plain message.
        case log
        /// Nothing.
        case ignore
        /// It is refused with 422.
        case refuse
    }

    /// What a sender is answered once its events are stored.
    struct Answer: Sendable {
        let status: Int
        let body: Template
    }

    /// What people call it: letters, digits and dashes.
    package let name: String
    /// What it is for, a line.
    package let about: String
    /// How the sender signs; nil: it does not.
    package let signature: SignatureRule?
    let messageKey: Template?
    let each: TemplatePlaceholder?
    let rules: [TemplateRule]
    /// What becomes of a request that no rule is for.
    package let otherwise: Otherwise
    let answer: Answer?
    /// Whether it says itself what senders are answered.
    package var hasAnswer: Bool { answer != nil }

    private static let members: Set<String> = [
        "name", "about", "signature", "messageKey", "each", "rules", "else", "answer",
    ]
    private static let maximumPlaces = 200
    private static let maximumRules = 100

    /// Compiles a receiver; the name is for one that has none, an integration's own.
    package init(
        _ value: JSONValue,
        name usual: String = "template",
        zones: @escaping ZoneLookup
    ) throws(TemplateProblem) {
        guard let members = value.objectValue else {
            throw TemplateProblem("a receiver is an object with \"name\" and \"rules\"")
        }
        for name in members.keys where !Self.members.contains(name) {
            throw TemplateProblem(
                "\"\(name)\" means nothing here. Known are \(Self.members.sorted().joined(separator: ", "))"
            )
        }
        guard let name = (members["name"] ?? .string(usual)).stringValue, Self.isName(name) else {
            throw TemplateProblem("\"name\" must be 1 to 64 small letters, digits and dashes, such as \"uptime-kuma\"")
        }
        guard let about = (members["about"] ?? "").stringValue else {
            throw TemplateProblem("\"about\" must be a text")
        }
        (self.name, self.about) = (name, about)
        signature = try members["signature"].map { (value) throws(TemplateProblem) in try SignatureRule(value) }
        messageKey = try members["messageKey"].map { (value) throws(TemplateProblem) in
            try inside("messageKey") { () throws(TemplateProblem) in try Template(value, .receiver, zones: zones) }
        }
        each = try members["each"].map { (value) throws(TemplateProblem) in try TemplateRule.list(value, zones) }
        rules = try Self.rules(members["rules"], isSplit: each != nil, zones)
        guard let otherwise = (members["else"] ?? "log").stringValue.flatMap(Otherwise.init(rawValue:)) else {
            throw TemplateProblem("\"else\" must be \"log\", \"ignore\" or \"refuse\"")
        }
        self.otherwise = otherwise
        answer = try members["answer"].map { (value) throws(TemplateProblem) in
            try inside("answer") { () throws(TemplateProblem) in try Self.answer(value, zones) }
        }
        let count = placeholders.reduce(0) { $0 + $1.places.count }
        guard count <= Self.maximumPlaces else {
            throw TemplateProblem(
                "it has \(count) places; at most \(Self.maximumPlaces) are taken. Make two receivers of it"
            )
        }
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    private static func rules(
        _ value: JSONValue?,
        isSplit: Bool,
        _ zones: @escaping ZoneLookup
    ) throws(TemplateProblem) -> [TemplateRule] {
        guard let declared = value?.arrayValue, declared.count <= maximumRules else {
            throw TemplateProblem("\"rules\" must be a list of at most \(maximumRules) rules")
        }
        var rules: [TemplateRule] = []
        for (index, value) in declared.enumerated() {
            rules.append(
                try inside("rule \(index + 1)") { () throws(TemplateProblem) in
                    let rule = try TemplateRule(value, zones: zones)
                    guard rule.each == nil || !isSplit else {
                        throw TemplateProblem("\"each\" stands in the receiver already. Write it in one of both")
                    }
                    if !isSplit, let misplaced = rule.misplaced {
                        throw TemplateProblem(
                            "\(misplaced.source) stands outside of a list. Write \"each\": \"{list}\" in the rule, or in "
                                + "the receiver where \"when\" looks at items"
                        )
                    }
                    return rule
                }
            )
        }
        return rules
    }

    private static func answer(
        _ value: JSONValue,
        _ zones: @escaping ZoneLookup
    ) throws(TemplateProblem) -> Answer {
        guard let members = value.objectValue, members.keys.allSatisfy({ $0 == "status" || $0 == "body" }) else {
            throw TemplateProblem("an answer is {\"status\": 200, \"body\": …}")
        }
        guard let status = (members["status"] ?? 200).intValue, [200, 201, 202, 204].contains(status) else {
            throw TemplateProblem("\"status\" must be 200, 201, 202 or 204")
        }
        return Answer(status: Int(status), body: try Template(members["body"] ?? [:], .receiver, zones: zones))
    }

    private var placeholders: [TemplatePlaceholder] {
        rules.flatMap(\.placeholders) + [each].compactMap(\.self)
            + [messageKey, answer?.body].compactMap(\.self).flatMap(\.placeholders).map(\.placeholder)
    }
}
