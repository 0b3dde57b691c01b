/// What a predicate asks of grants: whether the topic that a field names is shared with one of
/// these subjects, in one of these roles, now.
package struct GrantQuestion: Sendable, Hashable {
    /// Position of the field that holds the topic's id.
    package var field: Int
    /// One of these is enough.
    package var need: TopicRole
    /// All that the caller is.
    package var subjects: [GrantSubject]

    /// A question about the topic in a field.
    package init(field: Int, need: TopicRole, subjects: [GrantSubject]) {
        (self.field, self.need, self.subjects) = (field, need, subjects)
    }

    /// The topic that it asks about for a record; nil where the record names none.
    package func topic(of record: Record) -> TopicID? { record.values[field].text.map { TopicID($0) } }
}

extension Predicate {
    /// Holds where the topic in a field is shared with one of the subjects, in one of the roles.
    package static func granted(_ field: Int, _ need: TopicRole, _ subjects: [GrantSubject]) -> Predicate {
        .granted(GrantQuestion(field: field, need: need, subjects: subjects))
    }

    /// The same where every question about grants is answered alike.
    package func settled(granted answer: Bool) -> Predicate {
        switch self {
        case .always, .never, .field: self
        case .not(let part): .not(part.settled(granted: answer))
        case .granted: answer ? .always : .never
        case .all(let parts): parts.reduce(.always) { $0.and($1.settled(granted: answer)) }
        case .any(let parts): Self.either(parts.map { $0.settled(granted: answer) }.filter { $0 != .never })
        }
    }

    private static func either(_ parts: [Predicate]) -> Predicate {
        if parts.contains(.always) { return .always }
        return parts.count == 1 ? parts[0] : parts.isEmpty ? .never : .any(parts)
    }

    /// All that it asks of grants, each once.
    package var grantQuestions: [GrantQuestion] {
        switch self {
        case .always, .never, .field: []
        case .all(let parts), .any(let parts):
            parts.reduce(into: []) { found, part in
                for question in part.grantQuestions where !found.contains(question) { found.append(question) }
            }
        case .not(let part): part.grantQuestions
        case .granted(let question): [question]
        }
    }
}

extension Predicate {
    /// The same for somebody to whom nothing is granted.
    package var withoutGrants: Predicate { settled(granted: false) }
}

/// Roles in topics, as grants gave them at one moment: what a predicate is matched with where the
/// record is already in memory.
package struct GrantedRoles: Sendable, Hashable {
    private var roles: [TopicID: [GrantSubject: TopicRole]] = [:]

    /// Nothing is granted.
    package init() {}

    /// Adds what one grant gives, which was in force.
    package mutating func add(_ roles: TopicRole, to subject: GrantSubject, in topic: TopicID) {
        self.roles[topic, default: [:]][subject, default: []].formUnion(roles)
    }

    /// Adds all that others gave.
    package mutating func formUnion(_ other: GrantedRoles) {
        for (topic, granted) in other.roles {
            for (subject, roles) in granted { add(roles, to: subject, in: topic) }
        }
    }

    /// All roles that these subjects have in a topic together.
    package func roles(of subjects: [GrantSubject], in topic: TopicID) -> TopicRole {
        guard let granted = roles[topic] else { return [] }
        return subjects.reduce(into: []) { all, subject in all.formUnion(granted[subject] ?? []) }
    }

    /// Whether a question about a record is to be answered with yes.
    package func holds(_ question: GrantQuestion, for record: Record) -> Bool {
        guard let topic = question.topic(of: record) else { return false }
        return !roles(of: question.subjects, in: topic).isDisjoint(with: question.need)
    }
}
