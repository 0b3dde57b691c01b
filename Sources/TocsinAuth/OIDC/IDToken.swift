import JSON
import TocsinCore

/// An ID token whose signature was checked; its claims are not believed yet.
struct IDToken {
    /// Tokens with many groups are long; longer ones are refused.
    static let maximumBytes = 64 * 1024
    private static let maximumValues = 5000

    let claims: JSONObject
    /// Its key's, which its header repeats.
    let algorithm: SignatureAlgorithm

    init(_ text: String, keys: RemoteKeySet) async throws(OIDCRefusal) {
        let token = try Self.takenApart(text)
        guard SignatureAlgorithm.publicNames.contains(token.algorithm) else {
            throw OIDCRefusal(
                .tokenAlgorithm,
                "The ID token is signed by \(OIDCRefusal.shown(token.algorithm)), which is not taken; let the provider "
                    + "sign by RS256, PS256, ES256 or EdDSA."
            )
        }
        let key = try await Self.key(of: token, in: keys)
        guard key.algorithm.isNamed(token.algorithm) else {
            throw OIDCRefusal(
                .tokenAlgorithm,
                "The ID token says \(token.algorithm), but its key is for \(key.algorithm.rawValue)."
            )
        }
        guard key.verifies(token.signature, for: token.signedBytes) else {
            throw OIDCRefusal(.tokenSignature, "The ID token's signature is not its key's.")
        }
        (claims, algorithm) = (token.claims, key.algorithm)
    }

    private static func takenApart(_ text: String) throws(OIDCRefusal) -> CompactToken {
        do throws(TokenProblem) {
            return try CompactToken(text, maximumBytes: maximumBytes, maximumValues: maximumValues)
        } catch {
            throw OIDCRefusal(
                .tokenMalformed,
                "The ID token is no signed token of at most 64 KiB, has a claim twice, or names its own key."
            )
        }
    }

    private static func key(of token: CompactToken, in keys: RemoteKeySet) async throws(OIDCRefusal) -> PublicKey {
        let key: PublicKey?
        do throws(TokenProblem) {
            key = try await keys.key(id: token.keyID)
        } catch {
            guard case .unavailable(let reason) = error else {
                throw OIDCRefusal(.tokenKeyUnknown, "The ID token's key cannot be looked up.")
            }
            throw OIDCRefusal(.providerAway, reason)
        }
        if let key { return key }
        let id = token.keyID.map(OIDCRefusal.shown) ?? "without a name"
        throw OIDCRefusal(
            .tokenKeyUnknown,
            "The ID token's key \(id) is not in the provider's key set, which is read again at most once a minute."
        )
    }
}
