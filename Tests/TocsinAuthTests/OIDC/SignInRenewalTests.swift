import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("The renewal of a sign-in")
struct SignInRenewalTests {
    private let world: SignInWorld
    private let user = UserID("oidc:default:0f9d")

    init() throws {
        world = try SignInWorld { settings in
            settings.groupsClaim = ClaimPath("groups")
            settings.allowedGroups = ["staff"]
        }
        world.claim(["groups": ["staff", "ops"]])
        world.provider.change { $0.repeatsNonce = false }
    }

    private func renew(_ token: String = "refresh-1") async -> SignInRenewal {
        await world.signIn.renew(token, of: user)
    }

    /// Why the session ended; nil when it did not.
    private func ending(_ token: String = "refresh-1") async -> OIDCRefusal.Code? {
        if case .ended(let refusal) = await renew(token) { refusal.code } else { nil }
    }

    private func isUnanswered() async -> Bool {
        if case .unanswered = await renew() { true } else { false }
    }

    @Test("brings the groups of now and the next refresh token")
    func groups() async throws {
        world.claim(["groups": ["staff"]])
        guard case .renewed(let person, let token) = await renew() else {
            Issue.record("not renewed")
            return
        }
        #expect(person?.groups == ["staff"])
        #expect(person?.userID == user)
        #expect(token == "refresh-1")
        let form = Form.pairs(try #require(world.provider.calls(to: "/token").first).body)
        #expect(form == ["grant_type": "refresh_token", "refresh_token": "refresh-1"])
    }

    @Test("without an ID token says nothing of the person")
    func noIDToken() async {
        world.provider.change { $0.hasIDToken = false }
        guard case .renewed(nil, "refresh-1"?) = await renew() else {
            Issue.record("not renewed")
            return
        }
    }

    @Test("ends the session when the provider took the grant back")
    func revoked() async {
        #expect(await ending("refresh-0") == .grantRefused)
    }

    @Test("ends the session of who may no longer come in, and of who is another")
    func lost() async {
        world.claim(["groups": ["ops"]])
        #expect(await ending() == .groupsNotAllowed)
        world.claim(["groups": ["staff"], "sub": "another"])
        #expect(await ending() == .personOther)
    }

    @Test("ends nothing while the provider is away, errs, or refuses this server")
    func away() async {
        #expect(await ending() == nil)
        let answers: [OutgoingAnswer] = [
            .failed(reason: "no route"), .json("", status: 503), .json("<html>"),
            .json(#"{"error":"invalid_client"}"#, status: 401), .json(#"{"error":"server_error"}"#, status: 500),
        ]
        for answer in answers {
            world.provider.change { $0.tokens = answer }
            #expect(await isUnanswered())
        }
    }

    @Test("believes no ID token that a sign-in would not")
    func badToken() async {
        world.claim(["aud": "app-2"])
        #expect(await isUnanswered())
    }

    @Test("ends nothing at a node that has not reached the provider yet")
    func unread() async {
        world.provider.change { $0.discovery = .failed(reason: "no route") }
        #expect(await isUnanswered())
    }
}
