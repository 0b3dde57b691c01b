public import FoundationEssentials
import GraphQLTransport

/// How a client shows who it is.
public struct ClientCredentials: Sendable {
    enum Source: Sendable {
        case fixed(Credentials, given: String?)
        case provider(@Sendable (CredentialRequest) async throws -> AccessToken)
        case session(UserSession, onChange: @Sendable (UserSession?) -> Void)
    }

    let source: Source

    /// Nothing: for what a server shows to everybody.
    static let anonymous = Self(source: .fixed(Credentials(), given: nil))

    /// A token that lasts as long as it lasts: a client with it ends when it does.
    public static func token(_ text: String) -> Self {
        Self(source: .fixed(Credentials(authorization: text), given: text))
    }

    /// An API key, as older apps and AppSync have.
    public static func apiKey(_ text: String) -> Self {
        Self(source: .fixed(Credentials(apiKey: text), given: text))
    }

    /// Tokens from your sign-in.
    ///
    /// The closure is called for the first token, some time before a token ends, and when the
    /// server refuses one; never twice at once, unless a call does not come back in time. It may
    /// take up to `ClientSettings.credentialTimeout`. When it throws `SignedOut`, feeds end. Any
    /// other error counts as temporary: it is called again after a pause, for as long as somebody
    /// needs a token.
    public static func provider(_ provide: @escaping @Sendable (CredentialRequest) async throws -> AccessToken) -> Self
    {
        Self(source: .provider(provide))
    }

    /// A session of `TocsinClient.signIn` that the app has kept since an earlier start.
    ///
    /// `onChange` gets the session each time it has a new token, to be kept in place of the one
    /// before, and nil when it is over.
    public static func session(
        _ session: UserSession,
        onChange: @escaping @Sendable (UserSession?) -> Void
    ) -> Self {
        Self(source: .session(session, onChange: onChange))
    }
}

/// What a client wants of a provider of tokens.
public struct CredentialRequest: Sendable {
    /// Why a token is wanted.
    public enum Reason: Sendable {
        /// There is none yet.
        case first
        /// The one in use will end soon, or has ended.
        case expiring
        /// The server does not accept the one in use: a kept copy of it is of no use either.
        case refused(ClientError)
    }

    /// Why a token is wanted.
    public let reason: Reason
    /// How often the provider has failed at this since the last token.
    public let failures: Int
}

/// A token as a provider hands it over; printing it shows no secret.
public struct AccessToken: Sendable {
    let text: String
    let expiresAt: Date?

    /// A token and its end, where that is known; without one the token's own `exp` counts, else
    /// what the server says.
    public init(_ text: String, expiresAt: Date? = nil) {
        self.text = text
        self.expiresAt = expiresAt
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `<token>`.
    public var description: String { "<token>" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Shows no members.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a provider throws when nobody is signed in.
public struct SignedOut: Error, Sendable {
    /// Nobody is signed in.
    public init() {}
}
