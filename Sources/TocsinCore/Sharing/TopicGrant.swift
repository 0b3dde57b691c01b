/// What a subject may do with a topic beside its owner, and until when.
package struct TopicGrant: Sendable, Hashable {
    /// Names the grant.
    package var id: GrantID
    /// The topic that is shared.
    package var topicID: TopicID
    /// Whom it is for; a topic has one grant for each subject.
    package var subject: GrantSubject
    /// The name of the user it is for, where it was looked up; nothing stored.
    package var userName: String?
    /// What it lets them do.
    package var roles: TopicRole
    /// Whether it makes them members, who get the topic's pushes.
    package var push: Bool
    /// When it ends by itself; nil: never.
    package var expiresAt: Timestamp?
    /// When the subject was first given something of this topic.
    package var createdAt: Timestamp
    /// When that was last changed.
    package var changedAt: Timestamp
    /// Who gave it.
    package var createdBy: UserID

    /// A grant from its parts, without pushes and without an end.
    package init(
        id: GrantID,
        topicID: TopicID,
        subject: GrantSubject,
        roles: TopicRole,
        createdAt: Timestamp,
        createdBy: UserID
    ) {
        (self.id, self.topicID, self.subject, self.roles) = (id, topicID, subject, roles)
        (push, expiresAt) = (false, nil)
        (self.createdAt, changedAt, self.createdBy) = (createdAt, createdAt, createdBy)
    }

    /// Whether it still counts: it ends at `expiresAt`, not after it.
    package func isInForce(at now: Timestamp) -> Bool { expiresAt.map { $0 > now } ?? true }
}

/// Marks identifiers of grants.
package enum GrantKind {}
/// Names a grant.
package typealias GrantID = Identifier<GrantKind>
