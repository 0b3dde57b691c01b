package import Encodings

/// A token issued to a local user; the token's text is never stored.
///
/// What a token may do is in its row, whatever its text says, so that a change of the row
/// is a change of the token.
package struct IssuedToken: Sendable, Hashable {
    /// The token's `jti`, by which it is revoked.
    package var id: TokenID
    /// The account that the token lets in.
    package var userID: UserID
    /// What people call it in lists; not unique.
    package var name = ""
    /// What the token may do of what the account may.
    package var scope: Identity.Scope
    /// Where it may be used from; empty: anywhere.
    package var networks: [AddressNetwork] = []
    /// When the token was issued.
    package var createdAt: Timestamp
    /// Who issued it; nil: an operator, at the data.
    package var createdBy: UserID?
    /// The moment from which the token is refused.
    package var expiresAt: Timestamp
    /// When the token was revoked; nil while it was not.
    package var revokedAt: Timestamp?
    /// When its scope, networks or end were last changed; nil: never.
    package var changedAt: Timestamp?
    /// When its scope or networks were last changed, which ends who came in with those of before.
    package var narrowedAt: Timestamp?
    /// The token that stands in its place; nil: it was not rotated.
    package var rotatedTo: TokenID?
    /// The minute in which it was last used; written behind requests, never with the row.
    package var lastUsedAt: Timestamp?
    /// The network that it was last used from, never an address.
    package var lastUsedFrom: String?

    /// A token from its stored values; nothing is checked here, and what is optional is set
    /// afterwards.
    package init(
        id: TokenID,
        userID: UserID,
        scope: Identity.Scope,
        createdAt: Timestamp,
        expiresAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.userID = userID
        self.scope = scope
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    /// Whether the token lets its bearer in.
    package func isGood(at moment: Timestamp) -> Bool { revokedAt == nil && moment < expiresAt }

    /// The networks in words.
    package var networkTexts: [String] { networks.map(\.description) }

    /// What releases before tokens had rows of their own called this scope; nil where they
    /// knew no word for what the token may do and where.
    package var oldScope: OldScope? { networks.isEmpty ? OldScope(scope) : nil }

    /// The four scopes that there were first.
    package enum OldScope: Sendable, Hashable {
        case full, readOnly, push
        case publish(topic: String)

        fileprivate init?(_ scope: Identity.Scope) {
            switch scope {
            case .full: self = .full
            case .readOnly: self = .readOnly
            case .push: self = .push
            default:
                guard let topic = scope.publishTopics.first, scope == .publish(topic: topic) else { return nil }
                self = .publish(topic: topic)
            }
        }

        /// The scope that it is.
        package var scope: Identity.Scope {
            switch self {
            case .full: .full
            case .readOnly: .readOnly
            case .push: .push
            case .publish(let topic): .publish(topic: topic)
            }
        }
    }
}
