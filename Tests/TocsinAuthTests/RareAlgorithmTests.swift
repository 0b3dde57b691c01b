import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("Tokens signed by PS256 and EdDSA")
struct RareAlgorithmTests {
    private static let good = [RareFixtures.pssToken, RareFixtures.edToken, RareFixtures.ed25519Token]

    /// What a provider's key set makes of an ID token that renews a session; nil where it is good.
    private func refusal(_ token: String) async throws -> OIDCRefusal.Code? {
        let world = try SignInWorld()
        world.provider.change { ($0.keys, $0.idToken) = (.json(RareFixtures.keySet), token) }
        switch await world.signIn.renew("refresh-1", of: UserID("oidc:default:0f9d")) {
        case .renewed(let person, _):
            #expect(person?.username == "alice")
            return nil
        case .ended(let refusal), .unanswered(let refusal): return refusal.code
        }
    }

    @Test("are believed as bearer tokens and as ID tokens", arguments: good)
    func believed(token: String) async throws {
        let world = try await World(.fixed(KeySet(json: Array(RareFixtures.keySet.utf8))))
        guard case .identity(let identity) = await world.result(token) else {
            Issue.record("not believed")
            return
        }
        #expect(identity.userID == UserID("0f9d"))
        #expect(try await refusal(token) == nil)
    }

    @Test("are believed by the key's own algorithm alone, with a salt as long as its hash")
    func strict() async throws {
        #expect(try await refusal(RareFixtures.pkcs1Token) == .tokenAlgorithm)
        #expect(try await refusal(RareFixtures.shortSaltToken) == .tokenSignature)
    }

    @Test("carry the hash that Ed25519 has inside")
    func accessHash() async throws {
        #expect(try await refusal(RareFixtures.edOtherHashToken) == .tokenAccessHash)
    }

    @Test("cannot change by a character", arguments: [RareFixtures.pssToken, RareFixtures.edToken])
    func tampering(token: String) async throws {
        let world = try await World(.fixed(KeySet(json: Array(RareFixtures.keySet.utf8))))
        for index in token.indices where token[index] != "." {
            var changed = token
            changed.replaceSubrange(index...index, with: token[index] == "x" ? "y" : "x")
            let result = await world.result(changed)
            #expect(result == .refused(.notAuthorized) || result == .refused(.malformed), "\(changed)")
        }
    }
}
