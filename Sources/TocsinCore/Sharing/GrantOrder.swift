/// What a caller wants to give, as a client says it; `checked` finds what is wrong with it.
package struct GrantOrder: Sendable, Hashable {
    /// The topic to share.
    package var topicID: TopicID
    /// Whom to share it with, as the client names them.
    package var receiver: Receiver
    /// What they may do.
    package var roles: TopicRole
    /// Whether they get the topic's pushes at once.
    package var push = false
    /// When it ends by itself; nil: never.
    package var expiresAt: Timestamp?

    /// Whom a client names.
    package enum Receiver: Sendable, Hashable {
        /// A local user's name, a user's id, or the name that a sign-in provider gives.
        case user(String)
        case group(String)
        case everybody
    }

    /// An order without pushes and without an end.
    package init(topicID: TopicID, receiver: Receiver, roles: TopicRole) {
        (self.topicID, self.receiver, self.roles) = (topicID, receiver, roles)
    }

    /// Bytes of a group's name at most.
    private static let groupBytes = 256

    /// Refuses an order that means nothing.
    func check(now: Timestamp) throws(ServiceError) {
        guard !roles.isEmpty else {
            throw .badInput("roles is empty; give one of OWNER, PUBLISHER and READER at least.")
        }
        if let expiresAt, expiresAt <= now {
            throw .badInput("expiresAt lies in the past; leave it out for a grant without an end.")
        }
        if push, roles.isDisjoint(with: .reading) {
            throw .badInput("push needs the role READER or OWNER: who may not read a topic gets no pushes of it.")
        }
        switch receiver {
        case .everybody where push:
            throw .badInput("push goes with user or group, not with everybody; each person joins for themselves.")
        case .group(let name): try Self.check(group: name)
        case .user, .everybody: break
        }
    }

    private static func check(group name: String) throws(ServiceError) {
        let isPrintable = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: false
            default: true
            }
        }
        guard !name.isEmpty, name.utf8.count <= groupBytes, isPrintable else {
            throw .badInput("group must be 1 to \(groupBytes) bytes of printable characters.")
        }
    }
}
