/// What became of a grant: the roles that a subject has in a topic from now on.
package struct GrantChange: Sendable, Hashable {
    /// Whose roles they are.
    package var subject: GrantSubject
    /// The topic that is shared.
    package var topic: TopicID
    /// The stored owner of the topic and of its messages; empty where the grant has ended.
    package var owner: String
    /// None where the grant has ended.
    package var roles: TopicRole
    /// When they end by themselves; nil: never.
    package var expiresAt: Timestamp?

    /// A change to what a grant gives.
    package init(_ grant: TopicGrant, owner: String) {
        self.init(grant.subject, grant.topicID, owner, grant.roles, grant.expiresAt)
    }

    /// The end of a grant.
    package init(ending subject: GrantSubject, in topic: TopicID) { self.init(subject, topic, "", [], nil) }

    /// A change from its parts.
    package init(
        _ subject: GrantSubject,
        _ topic: TopicID,
        _ owner: String,
        _ roles: TopicRole,
        _ expiresAt: Timestamp?
    ) {
        (self.subject, self.topic, self.owner) = (subject, topic, owner)
        (self.roles, self.expiresAt) = (roles, expiresAt)
    }
}

/// What subjects in use have been granted of one topic, as it was at a moment.
package struct TopicGrants: Sendable, Hashable {
    struct Holding: Sendable, Hashable {
        var roles: TopicRole
        var expiresAt: Timestamp?
        /// The stored owner of the topic.
        var owner: String

        init(_ change: GrantChange) {
            (roles, expiresAt, owner) = (change.roles, change.expiresAt, change.owner)
        }
    }

    var holdings: [GrantSubject: Holding] = [:]

    /// All of the subjects.
    package var subjects: some Collection<GrantSubject> { holdings.keys }

    /// Whether one of the subjects has one of the roles at a moment.
    package func give(_ need: TopicRole, to subjects: [GrantSubject], at now: Timestamp) -> Bool {
        subjects.contains { subject in
            guard let holding = holdings[subject] else { return false }
            return !holding.roles.isDisjoint(with: need) && (holding.expiresAt.map { now < $0 } ?? true)
        }
    }
}
