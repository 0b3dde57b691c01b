import GraphQL
package import GraphQLTransport
package import TocsinCore

// Callers over time: a newer token, and rights that end.
extension TocsinGraphQL {
    /// Whether both are tokens of one user, so that the newer may take the older one's place on a
    /// socket.
    package func isSameUser(_ caller: Identity, as other: Identity) -> Bool {
        caller.owner == other.owner && caller.provider == other.provider
    }

    /// Lets a subscription go on under a newer token, or ends it.
    ///
    /// What a subscription shows was decided when it began. It goes on with a token of the same
    /// rights and ends with any other, for the client to begin again.
    package func renew(_ stream: any StreamHandle, caller: Identity) {
        guard let listener = stream as? any RenewableListener else { return }
        guard rights(of: listener.caller) == rights(of: caller) else {
            return listener.end(.failed(errors: executor.errorList([Self.otherRights], style: .standard)))
        }
        listener.renew(caller)
        // Whoever was told that the newer token has ended did not know yet that this
        // subscription goes by it.
        if revoked.covers(caller) { return listener.end(.unauthorized) }
        if revoked.knowsNewerRights(than: caller) { listener.end(.rightsChanged) }
    }

    /// What of a caller decides what a subscription shows.
    func rights(of caller: Identity) -> CallerRights {
        // Relations lead to other models, whose rules ask the caller too. A claim such as a
        // session's id makes no group.
        let claims = Dictionary(uniqueKeysWithValues: schema.claims.map { ($0, caller.values(of: $0)) })
        var rights = CallerRights(
            owner: caller.owner,
            scope: caller.scope,
            claims: claims,
            groups: caller.localGroups,
            provider: caller.provider
        )
        rights.seesWholeAudit = AccessPolicy.seesWholeAudit(caller)
        if case .allow(let visible) = AccessPolicy.decision(.listen, on: schema.messages, for: caller) {
            rights.subjects = visible.grantQuestions.first?.subjects ?? []
        }
        return rights
    }

    private static let otherRights = GraphQLError(
        .unauthorized,
        "The newer token gives other rights than the one this subscription began with. Subscribe again."
    )
}

/// What of a caller decides what is shown: callers equal in this get the same bytes.
struct CallerRights: Hashable, Sendable {
    var owner: String
    var scope: Identity.Scope
    /// What the schema's rules ask of the caller beside the owner; what else a token
    /// says makes no difference.
    var claims: [String: [String]]
    /// Local groups, which count for rules by group.
    var groups: [String]
    var provider: Identity.Provider
    /// What the caller is to whom topics may be shared; none where grants make no difference.
    var subjects: [GrantSubject] = []
    /// An administrator's newer token may be one of somebody who is none any more.
    var seesWholeAudit = false
}

extension CallerRights {
    /// The rights of all who may read a topic, or any, where it looks alike to all of them.
    ///
    /// No caller has such an owner text.
    init(readersOf topic: TopicID?) {
        let owner = "\u{0}topic:" + (topic?.text ?? "")
        self.init(owner: owner, scope: .readOnly, claims: [:], groups: [], provider: .userPools)
    }
}

/// A subscriber whose token may be followed by a newer one.
protocol RenewableListener: StreamHandle {
    /// Who listens, by the newest token.
    var caller: Identity { get }
    /// Goes on by a newer token of the same rights.
    func renew(_ caller: Identity)
    /// Ends the subscription from the server's side.
    func end(_ reason: StreamEnd)
}
