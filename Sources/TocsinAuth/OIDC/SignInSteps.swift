package import TocsinCore

/// What a browser is answered that begins to sign in.
package struct SignInBeginning: Sendable {
    /// Where it goes.
    package let location: String
    /// What the login cookie holds: sealed, good for ten minutes and one callback.
    package let cookie: String
    /// Ends the cookie's name, so that each tab has its own.
    package let tab: String
}

/// A sign-in that has ended well.
package struct SignedIn: Sendable {
    /// Who it is.
    package let person: ProviderPerson
    /// Where the browser goes: a path of this server.
    package let returnPath: String
    /// Who proved to be there again, and is the person; nil for a plain sign-in.
    package let elevated: UserID?
    /// The session whose user links the person; nil where somebody signed in.
    package let linking: TokenID?
    /// Renews the session, where the provider gave one; to be kept sealed.
    package let refreshToken: String?
    /// Says at the provider's logout whose session is meant.
    package let idToken: String
}

/// What became of a session's renewal.
package enum SignInRenewal: Sendable {
    /// The provider vouches again; `person` is nil where it said nothing of them. The new refresh
    /// token, where there is one, takes the old one's place.
    case renewed(person: ProviderPerson?, refreshToken: String?)
    /// The session is over.
    case ended(OIDCRefusal)
    /// Nothing was learnt; the session goes on and may ask again.
    case unanswered(OIDCRefusal)
}
