package import Encodings

/// An API key: whoever sends it may do what rules with `allow: public` give, and nothing else.
///
/// Its text is shown once and never stored, only its digest.
package struct APIKey: Sendable, Hashable {
    /// What every key's text begins with, as AppSync's do; no token begins so.
    package static let prefix = "da2-"

    /// Names the key to operators, in lists and when it is revoked; no secret.
    package var id: TokenID
    /// What people call it.
    package var name: String
    /// SHA-256 of the text, in hexadecimal; unique.
    package var digest: String
    /// When the key was made.
    package var createdAt: Timestamp
    /// The moment from which the key is refused.
    package var expiresAt: Timestamp
    /// When an operator revoked the key; nil while it was not.
    package var revokedAt: Timestamp?
    /// Where it may be used from; empty: anywhere.
    package var networks: [AddressNetwork] = []
    /// The minute in which it was last used; written behind requests, never with the row.
    package var lastUsedAt: Timestamp?
    /// The network that it was last used from, never an address.
    package var lastUsedFrom: String?

    /// A key from its stored values; nothing is checked here.
    package init(
        id: TokenID,
        name: String,
        digest: String,
        createdAt: Timestamp,
        expiresAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.digest = digest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    /// The networks in words.
    package var networkTexts: [String] { networks.map(\.description) }

    /// Who the bearer is: the key, and no person.
    package var identity: Identity {
        Identity(
            userID: UserID("key-" + id.text),
            username: name,
            tokenID: id,
            expiresAt: expiresAt,
            provider: .apiKey,
            networks: networks
        )
    }

    /// Whether the key lets its bearer in.
    package func isGood(at moment: Timestamp) -> Bool { revokedAt == nil && moment < expiresAt }
}
