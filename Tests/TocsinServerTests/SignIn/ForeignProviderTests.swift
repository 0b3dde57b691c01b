import Foundation
import JSON
import Testing
import TocsinAuth
import TocsinCore
import TocsinServer

/// `scripts/oidc.sh` starts the providers, and a person who goes where they are sent.
@Suite("Other people's sign-in providers", .serialized, .timeLimit(.minutes(5)), .enabled(if: ProviderDesk.isOpen))
struct ForeignProviderTests {
    @Test(
        "sign a person in, with a secret and without one",
        arguments: [("mock", "app-secret"), ("strict", "app-secret"), ("strict", "app-public")]
    )
    func walk(provider: String, client: String) async throws {
        let desk = try await ProviderDesk(provider, client: client)
        let signedIn = try await desk.signIn(returnTo: "/topics")
        #expect(signedIn.person.username == "alice")
        #expect(signedIn.person.email == "alice@example.com")
        #expect(signedIn.person.groups == ["ops", "staff"])
        #expect(signedIn.person.isAdmin)
        #expect(signedIn.person.userID == UserID("oidc:\(provider):\(signedIn.person.subject)"))
        #expect(signedIn.returnPath == "/topics")
    }

    @Test("renew a session until they take the grant back", arguments: ["mock", "strict"])
    func renewal(provider: String) async throws {
        let desk = try await ProviderDesk(provider)
        let signedIn = try await desk.signIn()
        let token = try #require(signedIn.refreshToken)
        guard case .renewed(let person, let next) = await desk.provider.renew(token, of: signedIn.person.userID) else {
            Issue.record("not renewed")
            return
        }
        #expect(person == nil || person?.groups == ["ops", "staff"])
        _ = try await desk.ask("revoke")
        guard case .ended(let refusal) = await desk.provider.renew(next ?? token, of: signedIn.person.userID) else {
            Issue.record("not ended")
            return
        }
        #expect(refusal.code == .grantRefused)
    }

    @Test("take a code once", arguments: ["mock", "strict"])
    func replay(provider: String) async throws {
        let desk = try await ProviderDesk(provider)
        let beginning = try await desk.provider.begin(returnTo: nil)
        let callback = try await desk.walk(beginning.location)
        _ = try await desk.signIns.finish(callback, cookie: beginning.cookie)
        // Another node, which has not seen the callback.
        let other = try await ProviderDesk(provider)
        let refusal = await #expect(throws: OIDCRefusal.self) {
            try await other.signIns.finish(callback, cookie: beginning.cookie)
        }
        #expect(refusal?.code == .grantRefused)
    }

    @Test(
        "give an attacker's code to nobody else",
        arguments: [("mock", OIDCRefusal.Code.tokenNonce), ("strict", .grantRefused)]
    )
    func injection(provider: String, code: OIDCRefusal.Code) async throws {
        let desk = try await ProviderDesk(provider)
        let theirs = try await desk.provider.begin(returnTo: nil)
        let stolen = try await desk.query(theirs.location).first { $0.name == "code" }
        let mine = try await desk.provider.begin(returnTo: nil)
        let query = try await desk.query(mine.location).filter { $0.name != "code" } + [#require(stolen)]
        let refusal = await #expect(throws: OIDCRefusal.self) {
            try await desk.signIns.finish(CallbackParameters(query), cookie: mine.cookie)
        }
        #expect(refusal?.code == code)
    }

    @Test("say that the person refused", arguments: ["mock", "strict"])
    func denial(provider: String) async throws {
        let desk = try await ProviderDesk(provider)
        let beginning = try await desk.provider.begin(returnTo: nil)
        let refusal = await #expect(throws: OIDCRefusal.self) {
            let callback = try CallbackParameters(await desk.query(beginning.location, act: "refuse"))
            _ = try await desk.signIns.finish(callback, cookie: beginning.cookie)
        }
        #expect(refusal?.providerError == .accessDenied)
    }

    @Test("prove that the person is there again, where they are asked to")
    func elevation() async throws {
        let user = try await ProviderDesk("strict").signIn().person.userID
        let desk = try await ProviderDesk("strict")
        let signedIn = try await desk.signIn(elevating: user)
        #expect(signedIn.elevated == user)
        // The provider's session is as old as the last proof, for a clock that is ahead of it.
        let later = try await ProviderDesk("strict", secondsAhead: 30)
        let beginning = try await later.provider.begin(returnTo: nil, elevating: user)
        let callback = try await later.walk(beginning.location.replacing("prompt=login", with: "prompt="))
        let refusal = await #expect(throws: OIDCRefusal.self) {
            try await later.signIns.finish(callback, cookie: beginning.cookie)
        }
        #expect(refusal?.code == .tokenAuthTime)
    }

    @Test("refuse a wrong secret", arguments: ["strict"])
    func wrongSecret(provider: String) async throws {
        let desk = try await ProviderDesk(provider, secret: "guess")
        let refusal = await #expect(throws: OIDCRefusal.self) { try await desk.signIn() }
        #expect(refusal?.code == .clientRefused)
    }

    @Test("know where a session with them ends", arguments: ["mock", "strict"])
    func logout(provider: String) async throws {
        let desk = try await ProviderDesk(provider)
        let signedIn = try await desk.signIn()
        let address = await desk.provider.logoutAddress(idToken: signedIn.idToken, returnAddress: nil)
        let answer = await desk.http.send(OutgoingRequest(url: try #require(address)))
        // A page that asks, or the way back; what is not understood would be refused.
        guard case .response(200...302, _, _) = answer else {
            Issue.record("\(answer)")
            return
        }
    }
}
