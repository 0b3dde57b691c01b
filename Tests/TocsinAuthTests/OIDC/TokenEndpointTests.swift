import Foundation
import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("The token request of a sign-in")
struct TokenEndpointTests {
    /// The request that a sign-in made.
    private func request(
        _ change: (inout OIDCProvider) -> Void = { _ in },
        announcing methods: JSONValue? = nil
    ) async throws -> (form: [String: String], authorization: String?) {
        let world = try SignInWorld(change)
        world.provider.change { $0.document["token_endpoint_auth_methods_supported"] = methods }
        _ = try await world.walk()
        let request = try #require(world.provider.calls(to: "/token").first)
        #expect(request.method == "POST")
        #expect(request.headers.contains { $0 == ("content-type", "application/x-www-form-urlencoded") })
        #expect(request.maximumBodyBytes == 256 * 1024)
        return (Form.pairs(request.body), request.headers.first { $0.name == "authorization" }?.value)
    }

    @Test("carries the verifier, and the secret as written in forms")
    func basic() async throws {
        var (form, authorization) = try await request()
        #expect(form.removeValue(forKey: "code_verifier")?.utf8.count == 43)
        #expect(
            form == [
                "grant_type": "authorization_code", "code": "code-1",
                "redirect_uri": "https://push.example/auth/callback",
            ]
        )
        let pair = Data("app-1:s3%20cret".utf8).base64EncodedString()
        #expect(authorization == "Basic \(pair)")
    }

    @Test("carries the secret in the form where the provider takes it there only")
    func post() async throws {
        let (form, authorization) = try await request(announcing: ["private_key_jwt", "client_secret_post"])
        #expect(form["client_id"] == "app-1")
        #expect(form["client_secret"] == "s3 cret")
        #expect(authorization == nil)
    }

    @Test("of a public client has no secret")
    func publicClient() async throws {
        let (form, authorization) = try await request({ $0.secret = nil }, announcing: ["none"])
        #expect(form["client_id"] == "app-1")
        #expect(form["client_secret"] == nil)
        #expect(authorization == nil)
    }

    @Test("is not sent to a provider that takes no such secret")
    func noMethod() async throws {
        let world = try SignInWorld()
        world.provider.change { $0.document["token_endpoint_auth_methods_supported"] = ["private_key_jwt"] }
        #expect(await world.refusal() == .clientRefused)
        #expect(world.provider.calls(to: "/token").isEmpty)
    }

    @Test("with another sign-in's verifier is refused by a strict provider")
    func verifier() async throws {
        let world = try SignInWorld()
        let mine = try await world.signIn.begin(returnTo: nil)
        let query = try CallbackParameters(world.provider.authorize(mine.location))
        let theirs = try await world.signIn.begin(returnTo: nil)
        _ = world.provider.authorize(theirs.location)
        let refusal = await #expect(throws: OIDCRefusal.self) {
            try await world.signIns.finish(query, cookie: mine.cookie)
        }
        #expect(refusal?.code == .grantRefused)
        #expect(refusal?.providerError == .invalidGrant)
    }

    @Test(
        "is answered clearly whatever comes back",
        arguments: [
            (OutgoingAnswer.json(#"{"error":"invalid_grant"}"#, status: 400), OIDCRefusal.Code.grantRefused),
            (.json(#"{"error":"invalid_client"}"#, status: 401), .clientRefused),
            (.json(#"{"error":"temporarily_unavailable"}"#, status: 503), .providerAway),
            (.json(#"{"error":"<b>","error_description":"<b>"}"#, status: 400), .providerError),
            (.json("<html>", status: 403), .tokenAnswerRefused),
            (.json("<html>", status: 502), .providerAway),
            (.json("slow down", status: 429), .providerAway),
            (.response(status: 302, headers: [("location", "https://evil.example")], body: []), .tokenAnswerRefused),
            (.failed(reason: "no route"), .providerAway),
            (.json("<html>"), .tokenAnswerRefused),
            (.json("{}"), .tokenAnswerRefused),
            (.json(#"{"id_token":7}"#), .tokenAnswerRefused),
            (.json(#"{"id_token":"a","id_token":"b"}"#), .tokenAnswerRefused),
            (.json(#"{"id_token":""# + String(repeating: "x", count: 300_000) + #""}"#), .providerAway),
        ]
    )
    func answers(answer: OutgoingAnswer, code: OIDCRefusal.Code) async throws {
        let world = try SignInWorld()
        world.provider.change { $0.tokens = answer }
        #expect(await world.refusal() == code)
        #expect(world.provider.calls(to: "/token").count == 1)
    }
}
