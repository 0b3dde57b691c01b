import Encodings
import JSON
package import TocsinCore

/// Makes and verifies the server's own tokens: HS256 under a key derived from the server's, and a
/// row in `tokens` that can be revoked.
package struct LocalTokens: Sendable {
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
        claims["scope"] = TokenScope.text(token.scope).map { .string($0) }
        let header: JSONValue = ["alg": "HS256", "kid": .string(keyID), "typ": "JWT"]
        let signed = [header, .object(claims)].map { Base64URL.encoded($0.serialized()) }.joined(separator: ".")
        let text = signed + "." + Base64URL.encoded(key.signature(for: Array(signed.utf8)))
        guard text.utf8.count <= CompactToken.maximumBytes else {
            throw KeyError("The token would be longer than 8 KiB; use the topic's id instead of its name.")
        }
        return text
    }

    /// The identity a token claims, its signature and dates checked; its row is not looked at.
    func claimedIdentity(of token: CompactToken, now: Timestamp) throws(TokenProblem) -> Identity {
        guard token.algorithm == key.algorithm, token.keyID == keyID,
            key.verifies(token.signature, for: token.signedBytes)
        else { throw .notAuthorized }
        let expiry = try rules.expiry(of: token.claims, now: now)
        let (userID, username) = try OwnerClaims.read(token.claims)
        guard !username.isEmpty, let id = token.claims["jti"]?.stringValue,
            let scope = TokenScope.scope(token.claims["scope"])
        else {
            throw .notAuthorized
        }
        return Identity(userID: userID, username: username, scope: scope, tokenID: TokenID(id), expiresAt: expiry)
    }

    /// The identity with its groups, where the token's row and its user still allow it.
    func confirmed(
        _ identity: Identity,
        in store: any Store,
        now: Timestamp
    ) async throws(TokenProblem) -> Identity {
        guard let id = identity.tokenID else { throw .notAuthorized }
        let row: IssuedToken?
        let account: Account?
        let groups: [Group]
        do throws(StoreError) {
            (row, account, groups) = try await store.read { (reader) throws(StoreError) in
                let user = identity.userID
                return (try reader.token(id), try reader.account(user), try reader.groups(of: [user])[user] ?? [])
            }
        } catch {
            throw .unavailable(reason: error.description)
        }
        guard let row, let account, row.userID == identity.userID, row.scope == identity.scope,
            account.name == identity.username
        else { throw .notAuthorized }
        guard row.revokedAt == nil, !account.isDisabled else { throw .revoked }
        guard now < row.expiresAt else { throw .expired }
        return identity.with(groups: groups.map(\.name), isAdmin: account.isAdmin, asOf: account.rightsChangedAt)
    }
}

/// The `scope` claim of local tokens.
enum TokenScope {
    private static let publishPrefix = "publish:"
    private static let readOnly = "read-only"
    private static let push = "push"

    static func text(_ scope: Identity.Scope) -> String? {
        switch scope {
        case .full: nil
        case .readOnly: readOnly
        case .push: push
        case .publish(let topic): publishPrefix + topic
        }
    }

    /// The scope of a claim; nil for one that is not known, which must not be taken for all rights.
    static func scope(_ claim: JSONValue?) -> Identity.Scope? {
        switch claim {
        case nil: return .full
        case .string(readOnly)?: return .readOnly
        case .string(push)?: return .push
        case .string(let text)? where text.hasPrefix(publishPrefix) && text != publishPrefix:
            return .publish(topic: String(text.dropFirst(publishPrefix.count)))
        default: return nil
        }
    }
}
