import Testing
import TocsinAuth

@Suite("The settings of a provider")
struct OIDCProviderTests {
    private static func provider(_ issuer: String = "https://id.example/realms/a") -> OIDCProvider {
        OIDCProvider(issuer: issuer, clientID: "app-1")
    }

    @Test("have nothing wrong by default")
    func good() {
        #expect(Self.provider().problems.isEmpty)
        #expect(Self.provider().shownLabel == "Sign in with id.example")
        #expect(Self.provider("http://localhost:8080").problems.isEmpty)
    }

    @Test(
        "say what is wrong with an issuer",
        arguments: ["", "id.example", "http://id.example", "https://id.example?a=b", "https://id.example#a"]
    )
    func issuers(text: String) {
        #expect(Self.provider(text).problems.count == 1)
    }

    @Test("say all that is wrong at once")
    func all() {
        var provider = OIDCProvider(issuer: "x", clientID: "")
        provider.id = "My Provider"
        provider.scopes = ["profile", "a b"]
        provider.adminGroups = ["admins"]
        #expect(provider.problems.count == 6)
    }

    @Test("never show the secret")
    func secret() {
        var provider = Self.provider()
        provider.secret = ClientSecret("hunter2")
        var text = ""
        dump(provider, to: &text)
        #expect(!text.contains("hunter2"))
        #expect(!"\(provider)".contains("hunter2"))
    }
}
