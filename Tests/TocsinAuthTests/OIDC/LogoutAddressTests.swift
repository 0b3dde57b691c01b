import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("The logout address of a provider")
struct LogoutAddressTests {
    private let home = "https://push.example/"

    @Test("names the session, this server, and where to go then")
    func standard() async throws {
        let world = try SignInWorld()
        let address = try #require(await world.signIn.logoutAddress(idToken: "a.b.c", returnAddress: home))
        #expect(address.hasPrefix("https://id.example/logout?"))
        #expect(
            Form.pairs(ofAddress: address) == [
                "client_id": "app-1", "id_token_hint": "a.b.c", "post_logout_redirect_uri": home,
            ]
        )
    }

    @Test("is none where the provider has none, or is away")
    func none() async throws {
        let dex = try SignInWorld()
        dex.provider.change { $0.document["end_session_endpoint"] = nil }
        #expect(await dex.signIn.logoutAddress(idToken: nil, returnAddress: home) == nil)
        let away = try SignInWorld()
        away.provider.change { $0.discovery = .failed(reason: "no route") }
        #expect(await away.signIn.logoutAddress(idToken: nil, returnAddress: home) == nil)
    }

    @Test("of Cognito has its own form, beside the authorization endpoint")
    func cognito() async throws {
        let issuer = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_a1B2"
        let world = try SignInWorld { $0.issuer = issuer }
        world.provider.change { behaviour in
            let pool = "https://pool.auth.eu-west-1.amazoncognito.com"
            behaviour.discovery = .json(
                JSONValue.object([
                    "issuer": .string(issuer), "authorization_endpoint": .string(pool + "/oauth2/authorize"),
                    "token_endpoint": .string(pool + "/oauth2/token"), "jwks_uri": .string(issuer + "/jwks.json"),
                ]).serializedString()
            )
        }
        let address = await world.signIn.logoutAddress(idToken: "a.b.c", returnAddress: home)
        #expect(
            address
                == "https://pool.auth.eu-west-1.amazoncognito.com/logout?client_id=app-1"
                + "&logout_uri=https%3A%2F%2Fpush.example%2F"
        )
    }
}
