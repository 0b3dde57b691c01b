package import Encodings

/// Who asks: the verified caller of one request or socket.
///
/// One reference to what was verified, so that a request's many copies cost nothing;
/// setting a part makes another.
package struct Identity: Sendable {
    /// Who vouches for the caller, in the words of `@auth(rules: [{ provider: … }])`.
    package enum Provider: String, Hashable, Sendable {
        /// Local accounts, and the issuer that stands for the user pool:
        /// satisfies rules for `oidc` too.
        case userPools
        /// An issuer beside the user pool.
        case oidc
        /// An API key that stands for nobody.
        case apiKey
    }

    private struct Facts: Hashable, Sendable {
        var userID: UserID
        var username: String
        var scope: Scope
        var tokenID: TokenID?
        var expiresAt: Timestamp?
        var provider: Provider
        var claims: [String: [String]]
        var readTopic: TopicID?
        var networks: [AddressNetwork]
        var claimedGroups: [String]
        var localGroups: [String] = []
        var isAdmin = false
        var isGroupMaker = false
        var rightsAsOf: Timestamp?
        var isOfProvider = false
    }

    private final class Verified: Sendable {
        let facts: Facts
        let owner: String
        let ownerForms: [String]
        let decisions = DecisionMemory()

        init(_ facts: Facts) {
            self.facts = facts
            let (subject, name) = (facts.userID.text, facts.username)
            owner = subject + "::" + name
            let alone = [OwnerText.subject(subject), OwnerText.name(name)].compactMap(\.self)
            let isComplete = !subject.isEmpty && !name.isEmpty
            // `subject::` says whose it is, though no name: no other caller has that text.
            let isNobody = subject.isEmpty && name.isEmpty
            ownerForms = isComplete || (alone.isEmpty && !isNobody) ? [owner] + alone : alone
        }
    }

    private var verified: Verified

    /// A caller whose credentials have been verified; `claims` has those that rules may name, and
    /// `claimedGroups` what grants call the groups among them.
    package init(
        userID: UserID,
        username: String,
        scope: Scope = .full,
        tokenID: TokenID? = nil,
        expiresAt: Timestamp? = nil,
        provider: Provider = .userPools,
        claims: [String: [String]] = [:],
        networks: [AddressNetwork] = [],
        claimedGroups: [String] = []
    ) {
        verified = Verified(
            Facts(
                userID: userID,
                username: username,
                scope: scope,
                tokenID: tokenID,
                expiresAt: expiresAt,
                provider: provider,
                claims: claims,
                networks: networks,
                claimedGroups: claimedGroups
            )
        )
    }

    /// Whoever may read a topic, and nobody in particular: for what looks alike to all of them.
    package init(readerOf topic: TopicID) {
        var facts = Facts(
            userID: UserID(""),
            username: "",
            scope: .readOnly,
            provider: .userPools,
            claims: [:],
            networks: [],
            claimedGroups: []
        )
        facts.readTopic = topic
        verified = Verified(facts)
    }

    private mutating func set<Part>(_ part: WritableKeyPath<Facts, Part>, _ value: Part) {
        var facts = verified.facts
        facts[keyPath: part] = value
        verified = Verified(facts)
    }

    /// `sub`: the key of devices and memberships.
    package var userID: UserID {
        get { verified.facts.userID }
        set { set(\.userID, newValue) }
    }
    /// `username`, or `cognito:username`; empty when the token has neither.
    package var username: String {
        get { verified.facts.username }
        set { set(\.username, newValue) }
    }
    /// What the token may do; `full` for tokens of other issuers.
    package var scope: Scope {
        get { verified.facts.scope }
        set { set(\.scope, newValue) }
    }
    /// Local tokens and API keys only, for revocation.
    package var tokenID: TokenID? {
        get { verified.facts.tokenID }
        set { set(\.tokenID, newValue) }
    }
    /// Whether the caller's session was begun at a sign-in provider: no account here says who they
    /// are, though the session has an id as local tokens have.
    package var isOfProvider: Bool {
        get { verified.facts.isOfProvider }
        set { set(\.isOfProvider, newValue) }
    }
    /// When the credentials run out, which ends their sockets too; nil: never.
    package var expiresAt: Timestamp? {
        get { verified.facts.expiresAt }
        set { set(\.expiresAt, newValue) }
    }
    /// Who vouched for the caller.
    package var provider: Provider {
        get { verified.facts.provider }
        set { set(\.provider, newValue) }
    }
    /// Claims of the token that rules may name (`cognito:groups`, `email`), each with its values.
    package var claims: [String: [String]] {
        get { verified.facts.claims }
        set { set(\.claims, newValue) }
    }
    /// Where the credentials may be used from; empty: anywhere.
    package var networks: [AddressNetwork] {
        get { verified.facts.networks }
        set { set(\.networks, newValue) }
    }

    /// Whether the credentials may be used from this address; nil: it is not known.
    package func isUsable(from address: String?) -> Bool {
        let networks = verified.facts.networks
        guard !networks.isEmpty else { return true }
        guard let address = address.flatMap(IPAddress.init) else { return false }
        return networks.contains { $0.contains(address) }
    }

    /// The topic whose readers the identity stands for; nil for callers.
    var readTopic: TopicID? { verified.facts.readTopic }

    /// The local groups that the caller is a member of; none for people of a sign-in provider.
    package var localGroups: [String] { verified.facts.localGroups }
    /// All groups of the caller, as subjects of grants name them: local ones by their names, those
    /// of a sign-in provider as `ClaimedGroups` writes them.
    package var groups: [String] { verified.facts.localGroups + verified.facts.claimedGroups }
    /// Whether the caller's account may manage people and groups.
    package var isAdmin: Bool { verified.facts.isAdmin }
    /// Whether the caller's account may make groups, and manage those that it made.
    package var isGroupMaker: Bool { verified.facts.isGroupMaker }
    /// Since when the account has had these groups and flags; nil: from its beginning.
    package var rightsAsOf: Timestamp? { verified.facts.rightsAsOf }

    /// Whether what the account's rows said of the caller may have changed by this moment.
    package func hasRights(before moment: Timestamp) -> Bool { rightsAsOf.map { $0 < moment } ?? true }

    /// The caller with what the account's rows say.
    package func with(
        groups: [String],
        isAdmin: Bool,
        isGroupMaker: Bool = false,
        asOf moment: Timestamp?
    ) -> Identity {
        guard !groups.isEmpty || isAdmin || isGroupMaker || moment != nil else { return self }
        var facts = verified.facts
        (facts.localGroups, facts.rightsAsOf) = (groups, moment)
        (facts.isAdmin, facts.isGroupMaker) = (isAdmin, isGroupMaker)
        var identity = self
        identity.verified = Verified(facts)
        return identity
    }

    /// The owner text stored with a row: `<sub>::<username>`, as AppSync stores it.
    package var owner: String { verified.owner }
    /// The stored owner texts that are this caller's.
    ///
    /// They are today's form and the older ones, the subject or the name alone. `OwnerText` tells
    /// which of the two a text can be.
    package var ownerForms: [String] { verified.ownerForms }
    /// What the rules of models were found to give to the caller.
    var decisions: DecisionMemory { verified.decisions }
}

extension Identity {
    /// Whether both are copies of what was verified once; two that are equal may
    /// be written in other bytes.
    func isOne(with other: Identity) -> Bool { verified === other.verified }
}

extension Identity: Hashable {
    /// Whether both were given the same facts, by whatever requests.
    package static func == (left: Self, right: Self) -> Bool {
        left.verified === right.verified || left.verified.facts == right.verified.facts
    }

    /// Hashes the facts that `==` compares.
    package func hash(into hasher: inout Hasher) { hasher.combine(verified.facts) }
}

extension Identity {
    /// Whether the token named both subject and user.
    ///
    /// One of them alone only permits reading older rows whose owner is that one claim.
    package var isComplete: Bool { !userID.text.isEmpty && !username.isEmpty }

    /// Whether the caller can own things, be a member of topics and have devices.
    ///
    /// An API key stands for nobody, and a token without a subject names nobody.
    package var isPerson: Bool { provider != .apiKey && !userID.text.isEmpty }

    /// Whether rules for this provider are about the caller.
    package func isFrom(_ provider: Provider) -> Bool {
        switch self.provider {
        case .userPools: provider != .apiKey
        case .oidc: provider == .oidc
        case .apiKey: provider == .apiKey
        }
    }

    /// The values of a claim.
    package func values(of claim: String) -> [String] {
        switch claim {
        case "sub": [userID.text].filter { !$0.isEmpty }
        case "username", "cognito:username": [username].filter { !$0.isEmpty }
        default: claims[claim] ?? []
        }
    }

    /// The groups of the caller by a claim that names groups: local ones count under every name.
    func groupValues(of claim: String) -> [String] { values(of: claim) + localGroups }

    /// The owner texts that are this caller's by a claim; the first of them is the one to store.
    ///
    /// For a claim `a::b` they are both values joined, then each value alone.
    /// Empty when the token lacks a part of the claim: such a caller owns nothing.
    package func ownerForms(of claim: String) -> [String] {
        guard provider != .apiKey else { return [] }
        if claim == AccessRule.ownerClaim { return ownerForms }
        let parts = Self.parts(of: claim)
        guard parts.count == 2 else { return values(of: claim) }
        guard let first = values(of: parts[0]).first, let second = values(of: parts[1]).first else { return [] }
        guard parts.contains("sub") else { return [first + "::" + second, first, second] }
        let alone = zip(parts, [first, second]).compactMap { part, text in
            part == "sub" ? OwnerText.subject(text) : OwnerText.name(text)
        }
        return [first + "::" + second] + alone
    }

    /// Whether a text that the caller wrote as an owner means the caller.
    ///
    /// Any part of the claim will do: the rules alone decide what is shown for it.
    package func isMeant(by owner: String, claim: String) -> Bool {
        guard provider != .apiKey else { return false }
        return ownerForms(of: claim).contains(owner)
            || Self.parts(of: claim).contains { values(of: $0).contains(owner) }
    }

    /// The halves of `a::b`; claims such as `cognito:username` have single colons of their own.
    static func parts(of claim: String) -> [String] {
        let bytes = Array(claim.utf8)
        let colon = UInt8(ascii: ":")
        guard let split = bytes.indices.dropLast().first(where: { bytes[$0] == colon && bytes[$0 + 1] == colon }) else {
            return [claim]
        }
        return [
            String(decoding: bytes[..<split], as: UTF8.self), String(decoding: bytes[(split + 2)...], as: UTF8.self),
        ]
    }
}
