/// One row of the audit: who changed what, from where, and what came of it.
///
/// It is written in the transaction of the change, by `AuditWriting.record`. It never holds a
/// message, the text of a token, a device's whole token or a whole address.
package struct AuditEvent: Sendable, Hashable {
    /// A UUID version 7.
    package var id: String
    /// When it was done.
    package var at: Timestamp
    /// Who did it.
    package var actor: AuditActor
    /// What was done: a noun and a verb, as `topic.create`.
    package var action: String
    /// What it was done to.
    package var subject: AuditSubject
    /// Whom it concerns beside the subject's owner, who may then see it too.
    package var about: UserID?
    /// More of it, without secrets.
    package var detail: AuditDetail
    /// What came of it.
    package var outcome: AuditOutcome
    /// Where it came from; the store adds the request's own when this is nil.
    package var origin: RequestOrigin?

    /// An event of these parts; `ServiceEnvironment.audit` makes those of services.
    package init(
        id: String,
        at: Timestamp,
        actor: AuditActor,
        action: String,
        subject: AuditSubject,
        about: UserID? = nil,
        detail: AuditDetail = [:],
        outcome: AuditOutcome = .done,
        origin: RequestOrigin? = nil
    ) {
        self.id = id
        self.at = at
        self.actor = actor
        self.action = action
        self.subject = subject
        self.about = about
        self.detail = detail
        self.outcome = outcome
        self.origin = origin
    }
}

/// What came of an act.
package enum AuditOutcome: String, Sendable, Hashable {
    /// It is done.
    case done = "DONE"
    /// It was refused, and nothing was changed.
    case refused = "REFUSED"
}

/// Who did something.
package struct AuditActor: Sendable, Hashable {
    /// What kind of actor it is.
    package enum Kind: String, Sendable, Hashable {
        /// A person, by a token.
        case user = "USER"
        /// The bearer of an API key.
        case key = "API_KEY"
        /// Whoever has the data directory, by a command.
        case `operator` = "OPERATOR"
        /// The server itself.
        case server = "SERVER"
        /// Somebody whom the server does not know.
        case stranger = "STRANGER"
    }

    /// What kind of actor it is.
    package var kind: Kind
    /// The user's or key's id, the operator's system account, the node's name; nil: not known.
    package var id: String?
    /// The token's or session's id, where there was one; never its text.
    package var token: String?

    /// An actor of these parts.
    package init(kind: Kind, id: String? = nil, token: String? = nil) {
        self.kind = kind
        self.id = id
        self.token = token
    }

    /// Who asked.
    package static func caller(_ caller: Identity) -> AuditActor {
        guard caller.provider != .apiKey else {
            return AuditActor(kind: .key, id: caller.tokenID?.text, token: caller.tokenID?.text)
        }
        return AuditActor(kind: .user, id: caller.userID.text, token: caller.tokenID?.text)
    }

    /// Whoever has the data directory.
    package static let `operator` = AuditActor(kind: .operator)
    /// The server itself.
    package static let server = AuditActor(kind: .server)
    /// Somebody whom the server does not know.
    package static let stranger = AuditActor(kind: .stranger)
}

/// What something was done to.
package struct AuditSubject: Sendable, Hashable {
    /// What kind of thing it is.
    package enum Kind: String, Sendable, Hashable {
        case user = "USER"
        case group = "GROUP"
        case topic = "TOPIC"
        case device = "DEVICE"
        case token = "TOKEN"
        case key = "API_KEY"
        case session = "SESSION"
        case server = "SERVER"
    }

    /// What kind of thing it is.
    package var kind: Kind
    /// Its id; a group's name.
    package var id: String
    /// Whose it is: a user's id.
    ///
    /// A topic's owner is added by the store, as the text in its row.
    package var owner: String?

    /// A subject of these parts.
    package init(kind: Kind, id: String, owner: String? = nil) {
        self.kind = kind
        self.id = id
        self.owner = owner
    }

    /// A user, who is their own owner.
    package static func user(_ id: UserID) -> AuditSubject { AuditSubject(kind: .user, id: id.text, owner: id.text) }
    /// A group, by its name.
    package static func group(_ name: String) -> AuditSubject { AuditSubject(kind: .group, id: name) }
    /// A topic.
    package static func topic(_ id: TopicID) -> AuditSubject { AuditSubject(kind: .topic, id: id.text) }
    /// A device of a user.
    package static func device(_ id: DeviceID, of user: UserID) -> AuditSubject {
        AuditSubject(kind: .device, id: id.text, owner: user.text)
    }
    /// A token of a user.
    package static func token(_ id: TokenID, of user: UserID?) -> AuditSubject {
        AuditSubject(kind: .token, id: id.text, owner: user?.text)
    }
    /// An API key, which is nobody's.
    package static func key(_ id: TokenID) -> AuditSubject { AuditSubject(kind: .key, id: id.text) }
    /// A session of a user.
    package static func session(_ id: String, of user: UserID) -> AuditSubject {
        AuditSubject(kind: .session, id: id, owner: user.text)
    }
    /// A node, or all of the server.
    package static func server(_ name: String) -> AuditSubject { AuditSubject(kind: .server, id: name) }
}
