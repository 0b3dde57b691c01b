/// Makes the secrets of sessions.
package protocol SessionSecrets: Sendable {
    /// A secret that nobody can guess, in the form of its kind.
    func make(_ kind: Session.Kind) -> String
    /// What is kept of a secret.
    func digest(of secret: String) -> String
}

extension Session {
    /// What the secrets of apps' sessions begin with, so that they are told from tokens.
    package static let appPrefix = "tcs_"
}

/// A session that has begun, with its secret, which is told once.
package struct NewSession: Sendable {
    /// The row.
    package var session: Session
    /// What the browser or app shows from now on.
    package var secret: String
}

/// Somebody for whom a sign-in provider vouches.
package struct VouchedPerson: Sendable {
    /// The provider's id in the settings.
    package var provider: String
    /// The provider's issuer, byte by byte.
    package var issuer: String
    /// The provider's own name of the person (`sub`).
    package var subject: String
    /// The id of a user of their own here.
    package var userID: UserID
    /// The user's name here.
    package var username: String
    /// What rules call who vouches.
    package var vouchedBy = Identity.Provider.userPools
    /// The claims that rules may name.
    package var claims: [String: [String]] = [:]
    /// Whether a group makes them an admin.
    package var isAdmin = false
    /// The provider's name of its own session.
    package var providerSession: String?
    /// The provider's tokens, sealed.
    package var secrets: String?
    /// Whether they proved just now who they are.
    package var isElevated = false
    /// Whether they come in only if they are known here.
    package var mustBeKnown = false

    /// A person without further facts.
    package init(provider: String, issuer: String, subject: String, userID: UserID, username: String) {
        (self.provider, self.issuer, self.subject) = (provider, issuer, subject)
        (self.userID, self.username) = (userID, username)
    }
}
