/// Somebody as a sign-in provider names them.
///
/// Issuer and subject say who it is; a name or an e-mail address never does.
package struct SignInIdentity: Sendable, Hashable {
    /// Names the row.
    package var id: String
    /// The provider's issuer, byte by byte.
    package var issuer: String
    /// The provider's own name of the person (`sub`).
    package var subject: String
    /// The local user whose identity it is by a link; nil: it is a user of its own.
    package var userID: UserID?
    /// The provider's id in the settings, when the row was written.
    package var provider: String
    /// What the provider called the person then; for lists alone.
    package var name: String
    /// When it was linked, or first signed in.
    package var createdAt: Timestamp

    /// An identity from its stored values.
    package init(
        id: String,
        issuer: String,
        subject: String,
        userID: UserID?,
        provider: String,
        name: String,
        createdAt: Timestamp
    ) {
        (self.id, self.issuer, self.subject) = (id, issuer, subject)
        (self.userID, self.provider) = (userID, provider)
        (self.name, self.createdAt) = (name, createdAt)
    }

    /// The identity of somebody for whom a provider vouches now.
    init(_ person: VouchedPerson, linkedTo user: UserID?, _ environment: ServiceEnvironment) {
        self.init(
            id: environment.identifiers.makeID(),
            issuer: person.issuer,
            subject: person.subject,
            userID: user,
            provider: person.provider,
            name: person.username,
            createdAt: environment.time.now()
        )
    }

    /// Identities that one local user may have linked.
    package static let maximumPerUser = 5
}
