/// Somebody who is signed in: a row, and a secret that only they have.
package struct Session: Sendable, Hashable {
    /// How its secret is shown.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// By a browser, in a cookie.
        case browser = "BROWSER"
        /// By an app, as a bearer token.
        case app = "APP"
    }

    /// Names the session; its secret cannot be told from it.
    package var id: TokenID
    /// What is kept of the secret: its SHA-256 in hexadecimal.
    package var digest: String
    /// The same of the secret before the last renewal.
    package var formerDigest: String?
    /// Until when the former secret is good.
    package var formerUntil: Timestamp?
    /// Who is signed in.
    package var userID: UserID
    /// What they are called.
    package var username: String
    /// How the secret is shown.
    package var kind: Kind
    /// The sign-in provider's id in the settings; nil for local users, who gave a password.
    package var provider: String?
    /// The linked identity by which a local user signed in with a provider; nil for others.
    package var identityID: String?
    /// Who vouches for the person, in the words of rules.
    package var vouchedBy = Identity.Provider.userPools
    /// What a provider said of the person that rules may name.
    package var claims: [String: [String]] = [:]
    /// Whether a provider's group makes the person an admin.
    package var isAdmin = false
    /// When they signed in, or renewed the session last.
    package var createdAt: Timestamp
    /// When it was used last, to some minutes.
    package var seenAt: Timestamp
    /// From when on it is over unless it is used.
    package var idleUntil: Timestamp
    /// From when on it is over.
    package var expiresAt: Timestamp
    /// Until when the person counts as having proved just now who they are.
    package var elevatedUntil: Timestamp?
    /// The network they signed in from (`AuditNetwork`).
    package var network: String?
    /// What their program calls itself, at most 120 characters.
    package var agent: String?
    /// The provider's name of its own session (`sid`).
    package var providerSession: String?
    /// The provider's tokens, sealed.
    package var secrets: String?
    /// When the provider was asked last.
    package var renewedAt: Timestamp?
    /// When it was ended; nil while it was not.
    package var endedAt: Timestamp?

    /// A session that begins now.
    package init(
        id: TokenID,
        digest: String,
        userID: UserID,
        username: String,
        kind: Kind,
        at now: Timestamp,
        _ limits: SessionLimits
    ) {
        (self.id, self.digest, self.userID, self.username) = (id, digest, userID, username)
        (self.kind, createdAt, seenAt) = (kind, now, now)
        idleUntil = now.adding(seconds: limits.idleSeconds)
        expiresAt = now.adding(seconds: limits.lifetimeSeconds)
    }

    /// When it is over if nobody uses it.
    package var end: Timestamp { min(idleUntil, expiresAt) }

    /// Whether its secret lets anybody in.
    package func isGood(at now: Timestamp) -> Bool { endedAt == nil && now < end }

    /// Whether what is kept of this secret is the session's, or was until a moment ago.
    package func isShown(by digest: String, at now: Timestamp) -> Bool {
        self.digest == digest || (formerDigest == digest && formerUntil.map { now < $0 } ?? false)
    }

    /// Whether the person proved a short while ago who they are.
    package func isElevated(at now: Timestamp) -> Bool { elevatedUntil.map { now < $0 } ?? false }
}

/// How long sessions last, and how many one user may have.
package struct SessionLimits: Sendable, Hashable {
    /// A session that nobody uses for so long is over.
    package var idleSeconds: Double
    /// Used or not, it is over then.
    package var lifetimeSeconds: Double
    /// Good sessions of one user; a further one ends the oldest.
    package var perUser = 20
    /// Rows of one user, ended ones too.
    package var rowsPerUser = 100

    /// A week without use, and thirty days.
    package init(idleSeconds: Double = 7 * 86_400, lifetimeSeconds: Double = 30 * 86_400) {
        (self.idleSeconds, self.lifetimeSeconds) = (idleSeconds, lifetimeSeconds)
    }

    /// How long a proof of who somebody is counts.
    static let elevationSeconds = 900.0
    /// How long the former secret is good after a renewal, whose answer may be lost.
    static let formerSeconds = 60.0
    /// How often at most it is noted that a session is used.
    package static let seenSeconds = 300.0
    /// How long the networks are remembered from which a user signed in.
    package static let familiarSeconds = 30 * 86_400.0
    /// How long a row stays after its end.
    static let keptSeconds = familiarSeconds
}

extension Identity {
    /// The caller of a session; `claimedGroups` is what grants call the groups among its claims.
    package init(_ session: Session, claimedGroups: [String] = []) {
        self.init(
            userID: session.userID,
            username: session.username,
            tokenID: session.id,
            expiresAt: session.end,
            provider: session.vouchedBy,
            claims: session.claims,
            claimedGroups: claimedGroups
        )
        isOfProvider = session.provider != nil && session.identityID == nil
    }

    /// Whoever shows nothing of who they are: may sign in, and nothing else.
    package static let stranger = Identity(
        userID: UserID(""),
        username: "",
        scope: .publish(topic: ""),
        provider: .apiKey
    )

    /// Whether nobody is known to ask.
    package var isStranger: Bool { isOne(with: .stranger) }
}
