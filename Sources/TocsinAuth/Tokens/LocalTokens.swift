import Encodings
import JSON
package import TocsinCore

/// Makes and verifies the server's own tokens: HS256 under a key derived from the server's, and a
/// row in `tokens` that can be revoked.
package struct LocalTokens: TokenTexts {
    /// The `iss` of every local token.
    package static let issuer = "tocsin"
    /// Ten years.
    package static let maximumLifetimeSeconds: Int64 = 10 * 366 * 86_400

    private let key: HMACKey
    private let keyID: String
    private let rules = ClaimRules(issuer: issuer, audiences: nil)

    /// Signs under a key of its own, derived from the server's.
    package init(_ serverKey: ServerKey) {
        let secret = serverKey.derived(for: .localTokens)
        key = HMACKey(derived: secret)
        keyID = Base64URL.encoded(Digest.sha256(Array("tocsin kid".utf8) + secret).prefix(6))
    }

    /// The text of a token for a row that the caller stores; the text itself is stored nowhere.
    ///
    /// Throws when the row's life is not between now and ten years, or a name cannot be an owner.
    package func text(of token: IssuedToken, for account: Account) throws(KeyError) -> String {
        let life = token.expiresAt.milliseconds - token.createdAt.milliseconds
        guard life >= 1000, life <= Self.maximumLifetimeSeconds * 1000 else {
            throw KeyError("A token lives from one second to ten years; this one would live \(life / 1000) s.")
        }
        guard token.userID == account.id, OwnerClaims.isValid(account.id.text), OwnerClaims.isValid(account.name) else {
            throw KeyError(
                "The user \(account.name) cannot have a token: a name has 1 to 256 printable characters, no :: in it and "
                    + "no colon at its ends."
            )
        }
        var claims: JSONObject = [
            "iss": .string(Self.issuer),
            "sub": .string(account.id.text),
            "username": .string(account.name),
            "jti": .string(token.id.text),
            "iat": .int(token.createdAt.milliseconds / 1000),
            "exp": .int(token.expiresAt.milliseconds / 1000),
        ]
        claims["scope"] = ScopeClaim.text(of: token).map { .string($0) }
        let header: JSONValue = ["alg": "HS256", "kid": .string(keyID), "typ": "JWT"]
        let signed = [header, .object(claims)].map { Base64URL.encoded($0.serialized()) }.joined(separator: ".")
        let text = signed + "." + Base64URL.encoded(key.signature(for: Array(signed.utf8)))
        guard text.utf8.count <= CompactToken.maximumBytes else {
            throw KeyError("The token would be longer than 8 KiB; use a shorter user name.")
        }
        return text
    }

    /// What a token says of itself.
    struct Claimed {
        var id: TokenID
        var userID: UserID
        var username: String
        var expiresAt: Timestamp
        var scope: ScopeClaim
    }

    /// What a token claims, its signature and dates checked; its row is not looked at.
    func claims(of token: CompactToken, now: Timestamp) throws(TokenProblem) -> Claimed {
        guard token.algorithm == key.algorithm, token.keyID == keyID,
            key.verifies(token.signature, for: token.signedBytes)
        else { throw .notAuthorized }
        let expiry = try rules.expiry(of: token.claims, now: now)
        let (userID, username) = try OwnerClaims.read(token.claims)
        guard !username.isEmpty, let id = token.claims["jti"]?.stringValue,
            let scope = ScopeClaim(token.claims["scope"])
        else {
            throw .notAuthorized
        }
        return Claimed(id: TokenID(id), userID: userID, username: username, expiresAt: expiry, scope: scope)
    }

    /// The identity of a token by its row and its user, where these still allow it.
    ///
    /// The row says what the token may do. Its text may claim more, for rows are narrowed, and
    /// never less.
    func identity(of token: Claimed, in store: any Store, now: Timestamp) async throws(TokenProblem) -> Identity {
        let row: IssuedToken?
        let account: Account?
        let groups: [Group]
        do throws(StoreError) {
            (row, account, groups) = try await store.read { (reader) throws(StoreError) in
                let user = token.userID
                return (try reader.token(token.id), try reader.account(user), try reader.groups(of: [user])[user] ?? [])
            }
        } catch {
            throw .unavailable(reason: error.description)
        }
        guard let row, let account, row.userID == token.userID, token.scope.allows(row.scope),
            account.name == token.username
        else { throw .notAuthorized }
        guard row.revokedAt == nil, !account.isDisabled else { throw .revoked }
        guard now < row.expiresAt else { throw .expired }
        return Identity(
            userID: token.userID,
            username: token.username,
            scope: row.scope,
            tokenID: token.id,
            expiresAt: min(token.expiresAt, row.expiresAt),
            networks: row.networks
        )
        .with(account, in: groups)
    }
}

/// The `scope` claim of local tokens.
enum ScopeClaim {
    /// One of the four that there were first.
    case old(Identity.Scope)
    /// The row alone says it. Releases that know no rows of scopes refuse this word.
    case row

    private static let publishPrefix = "publish:"
    private static let readOnly = "read-only"
    private static let push = "push"
    private static let rowWord = "row"

    /// The claim of a token to be made; nil: it has none, and may do all.
    static func text(of token: IssuedToken) -> String? {
        switch token.oldScope {
        case .full?: nil
        case .readOnly?: readOnly
        case .push?: push
        case .publish(let topic)?: publishPrefix + topic
        case nil: rowWord
        }
    }

    /// What a claim says; nil for one that is not known, which must not be taken for all rights.
    init?(_ claim: JSONValue?) {
        switch claim {
        case nil: self = .old(.full)
        case .string(Self.readOnly)?: self = .old(.readOnly)
        case .string(Self.push)?: self = .old(.push)
        case .string(Self.rowWord)?: self = .row
        case .string(let text)? where text.hasPrefix(Self.publishPrefix) && text != Self.publishPrefix:
            self = .old(.publish(topic: String(text.dropFirst(Self.publishPrefix.count))))
        default: return nil
        }
    }

    /// Whether a token that claims this may have a row of that scope.
    func allows(_ scope: Identity.Scope) -> Bool {
        switch self {
        case .old(let claimed): claimed.covers(scope)
        case .row: true
        }
    }
}
