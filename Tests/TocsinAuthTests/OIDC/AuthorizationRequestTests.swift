import Encodings
import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("The authorization request")
struct AuthorizationRequestTests {
    private static let variable = ["state", "nonce", "code_challenge"]

    /// The query of a new request, without what is new each time.
    private func query(
        elevating user: UserID? = nil,
        _ change: (inout OIDCProvider) -> Void = { _ in }
    ) async throws -> [String: String] {
        let beginning = try await SignInWorld(change).signIn.begin(returnTo: nil, elevating: user)
        return Form.pairs(ofAddress: beginning.location)
    }

    @Test("asks for a code, always by S256, and for the exact redirect address")
    func plain() async throws {
        let world = try SignInWorld()
        let location = try await world.signIn.begin(returnTo: "/topics").location
        #expect(location.hasPrefix("https://id.example/authorize?"))
        var query = Form.pairs(ofAddress: location)
        for name in Self.variable {
            // 256 bits in base 64 for URLs.
            let value = query.removeValue(forKey: name) ?? ""
            #expect(Base64URL.decoded(value)?.count == 32)
        }
        #expect(
            query == [
                "response_type": "code", "client_id": "app-1", "redirect_uri": "https://push.example/auth/callback",
                "scope": "openid profile email", "code_challenge_method": "S256",
            ]
        )
    }

    @Test("has new secrets each time, and a cookie of its own that tells none of them")
    func fresh() async throws {
        let world = try SignInWorld()
        let first = try await world.signIn.begin(returnTo: nil)
        let second = try await world.signIn.begin(returnTo: nil)
        let (one, other) = (Form.pairs(ofAddress: first.location), Form.pairs(ofAddress: second.location))
        for name in Self.variable {
            #expect(one[name] != other[name])
            #expect(!first.cookie.contains(one[name] ?? ""))
        }
        #expect(first.cookie != second.cookie)
        #expect(first.tab == one["state"].flatMap(SignInState.tab(ofState:)))
        #expect(first.tab.utf8.count == 8 && first.tab != second.tab)
    }

    @Test("asks for a new proof when somebody proves to be there again")
    func elevation() async throws {
        let query = try await query(elevating: UserID("oidc:default:0f9d"))
        #expect(query["prompt"] == "login")
        #expect(query["max_age"] == "0")
    }

    @Test("names the audience and the domain that the settings name")
    func extras() async throws {
        let query = try await query { settings in
            settings.audience = "https://api.example/a b"
            settings.requiredClaims = ["hd=example.com", "email_verified=true"].compactMap(RequiredClaim.init)
            settings.scopes = ["openid", "groups"]
        }
        #expect(query["audience"] == "https://api.example/a b")
        #expect(query["hd"] == "example.com")
        #expect(query["scope"] == "openid groups")
        #expect(query["prompt"] == nil)
    }

    @Test("keeps the query that the provider's address has")
    func joined() async throws {
        let world = try SignInWorld()
        world.provider.change { $0.document["authorization_endpoint"] = "https://id.example/authorize?policy=a%20b" }
        let location = try await world.signIn.begin(returnTo: nil).location
        #expect(location.hasPrefix("https://id.example/authorize?policy=a%20b&response_type=code"))
    }

    @Test("takes no foreign text for the name of a cookie", arguments: ["", "12345678", "../../etc", "a=b; x\r\n"])
    func tabs(state: String) {
        #expect(SignInState.tab(ofState: state) == nil)
    }
}
