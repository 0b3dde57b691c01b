/// Whether people may still get the pushes of topics that they are members of.
///
/// A push is judged as if its receiver read the message at this moment.
package struct PushRights: Sendable {
    /// The model of topics, whose rules of reading a receiver must pass.
    package let topics: ModelType
    /// The model of messages, whose rules of reading a receiver must pass.
    package let messages: ModelType
    /// Whether people get pushes only while a token of theirs is good.
    package let requiresSignIn: Bool
    /// The claims that are noted of people: those of the rules, and the one that names groups.
    package let notedClaims: Set<String>
    /// How the groups of a sign-in provider are taken.
    package let claimedGroups: ClaimedGroups
    /// Those of them that grant by group, and do not say who somebody is.
    private let groupClaims: Set<String>
    /// What a push shows, where its fields have rules of their own.
    private let shownFields: [Int]

    /// Collects the claims that the rules of both models, and of the fields a push shows, name.
    package init(
        topics: ModelType,
        messages: ModelType,
        requiresSignIn: Bool = false,
        claimedGroups: ClaimedGroups = ClaimedGroups()
    ) {
        self.topics = topics
        self.messages = messages
        self.requiresSignIn = requiresSignIn
        shownFields = ["title", "body"].compactMap(messages.position).filter { messages.fieldRules[$0] != nil }
        let rules = topics.rules + messages.rules + shownFields.flatMap { messages.fieldRules[$0] ?? [] }
        let claims = Set(rules.flatMap(\.claims))
        let owners = Set(rules.filter { $0.owner != nil }.flatMap(\.claims))
        self.claimedGroups = claimedGroups
        notedClaims = claims.union([claimedGroups.claim])
        groupClaims = notedClaims.subtracting(owners)
    }

    /// What is known of a person who is not here.
    package struct Standing: Sendable, Hashable {
        /// The local account, if there is one.
        package var account: LocalAccount?
        /// What their last token said, if it was noted.
        package var facts: UserFacts?
        /// Whether a local token of theirs that can read is good now; only asked
        /// where sign-in is required.
        package var hasToken: Bool

        /// What counts of an account.
        package struct LocalAccount: Sendable, Hashable {
            /// The account's unique name, which becomes the receiver's user name.
            package var name: String
            /// Whether the account gets no pushes at all.
            package var isDisabled: Bool
            /// The local groups that it is a member of.
            package var groups: [String]

            /// The part of a stored account that counts for pushes.
            package init(name: String, isDisabled: Bool, groups: [String] = []) {
                self.name = name
                self.isDisabled = isDisabled
                self.groups = groups
            }
        }

        /// What is known of a user; without arguments, nothing.
        package init(account: LocalAccount? = nil, facts: UserFacts? = nil, hasToken: Bool = false) {
            self.account = account
            self.facts = facts
            self.hasToken = hasToken
        }
    }

    /// Who is to get a push.
    package enum Receiver: Sendable, Hashable {
        /// Nobody: the account is disabled, or no sign-in is left where one is required.
        case nobody
        /// A member from before anything was noted of people, who has not been here since: the
        /// membership is all there is.
        case member
        case person(Identity)
    }

    /// The receiver that a user is now.
    package func receiver(_ user: UserID, _ standing: Standing?, now: Timestamp) -> Receiver {
        if let account = standing?.account {
            guard !account.isDisabled, !requiresSignIn || standing?.hasToken == true else { return .nobody }
            let identity = Identity(userID: user, username: account.name)
            return .person(identity.with(groups: account.groups, isAdmin: false, asOf: nil))
        }
        guard var facts = standing?.facts else { return requiresSignIn ? .nobody : .member }
        if facts.seenAt.adding(seconds: claimedGroups.trustSeconds) <= now {
            guard !requiresSignIn else { return .nobody }
            facts.claims = facts.claims.filter { !groupClaims.contains($0.key) }
        }
        return .person(
            Identity(
                userID: user,
                username: facts.username,
                provider: facts.provider,
                claims: facts.claims,
                claimedGroups: claimedGroups.subjects(in: facts.claims)
            )
        )
    }

    /// Whether a receiver may have the push of a message now, by the rules and what was granted.
    ///
    /// A direct push goes to whom it names, whose account alone counts.
    package func mayReceive(
        _ receiver: Receiver,
        _ message: Record,
        in topic: Record,
        _ roles: GrantedRoles = GrantedRoles()
    ) -> Bool {
        DirectPushService.isTopic(topic.id) ? receiver != .nobody : mayRead(receiver, message, in: topic, roles)
    }

    /// Whether somebody may read a topic, as every member may.
    func mayRead(_ person: Identity, _ topic: Record, _ roles: GrantedRoles) -> Bool {
        Self.may([.read], topic, person, roles)
    }

    /// Whether a receiver may read the message with all that its push shows.
    private func mayRead(_ receiver: Receiver, _ message: Record, in topic: Record, _ roles: GrantedRoles) -> Bool {
        switch receiver {
        case .nobody: return false
        case .member: return true
        case .person(let identity):
            guard Self.may([.read], topic, identity, roles),
                Self.may([.read, .list, .listen], message, identity, roles)
            else { return false }
            return shownFields.allSatisfy { field in
                switch AccessPolicy.decision(.get, onField: field, of: messages, for: identity) {
                case nil: true
                case .deny?: false
                case .allow(let readable)?: readable.matches(message)
                }
            }
        }
    }

    /// Whether one of the ways to the record's text is open.
    private static func may(
        _ ways: [AccessRule.Operation],
        _ record: Record,
        _ identity: Identity,
        _ roles: GrantedRoles
    ) -> Bool {
        ways.contains { way in
            guard case .allow(let readable) = AccessPolicy.decision(way, on: record.model, for: identity) else {
                return false
            }
            return readable.matches(record, roles)
        }
    }
}
