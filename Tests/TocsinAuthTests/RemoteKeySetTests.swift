import JSON
import TocsinAuth
import TocsinCore
import Testing

@Suite("Key sets at an address")
struct RemoteKeySetTests {
    private struct Remote {
        let world: World
        let http: ScriptedHTTP

        init(_ answer: OutgoingAnswer) async throws {
            let http = ScriptedHTTP(answer)
            let time = ManualTime()
            let keys = RemoteKeySet(url: "https://id.example/keys", http: http, time: time)
            self.http = http
            world = try await World(.remote(keys), time: time)
        }

        func unknownKey(_ id: String) throws -> String {
            try Forge.token(header: ["alg": "ES256", "kid": .string(id)], key: PrivateKey(pem: Fixtures.ecPKCS8))
        }
    }

    @Test("many callers share one first fetch")
    func singleFlight() async throws {
        let remote = try await Remote(ScriptedHTTP.json(Fixtures.keySet))
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    if case .identity = await remote.world.result(Fixtures.ecToken) { true } else { false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(accepted == 50)
        #expect(remote.http.calls == 1)
    }

    @Test("unknown key ids fetch again at most once in 60 seconds")
    func refetching() async throws {
        let remote = try await Remote(ScriptedHTTP.json(Fixtures.keySet))
        for number in 0..<20 {
            #expect(await remote.world.result(try remote.unknownKey("new-\(number)")) == .refused(.notAuthorized))
        }
        #expect(remote.http.calls == 1)
        remote.world.time.advance(seconds: 60)
        for number in 0..<20 { _ = await remote.world.result(try remote.unknownKey("new-\(number)")) }
        #expect(remote.http.calls == 2)
    }

    @Test("a new key is found once the pause is over")
    func rotation() async throws {
        let remote = try await Remote(ScriptedHTTP.json(Fixtures.keySet.replacing("ec-1", with: "ec-0")))
        #expect(await remote.world.result(Fixtures.ecToken) == .refused(.notAuthorized))
        remote.http.answer(ScriptedHTTP.json(Fixtures.keySet))
        remote.world.time.advance(seconds: 61)
        guard case .identity = await remote.world.result(Fixtures.ecToken) else {
            Issue.record("the new key was not found")
            return
        }
    }

    @Test(
        "the last good set stays while fetching fails",
        arguments: [OutgoingAnswer.failed(reason: "no route"), ScriptedHTTP.json("<html>")]
    )
    func failure(answer: OutgoingAnswer) async throws {
        let remote = try await Remote(ScriptedHTTP.json(Fixtures.keySet))
        _ = await remote.world.result(Fixtures.ecToken)
        remote.http.answer(answer)
        remote.world.time.advance(seconds: 61)
        #expect(await remote.world.result(try remote.unknownKey("new")) == .refused(.notAuthorized))
        #expect(remote.http.calls == 2)
        guard case .identity = await remote.world.result(Fixtures.rsaToken) else {
            Issue.record("the good set was dropped")
            return
        }
    }

    @Test("a withdrawn key is noticed once the set is an hour old")
    func withdrawal() async throws {
        let remote = try await Remote(ScriptedHTTP.json(Fixtures.keySet))
        _ = await remote.world.result(Fixtures.ecToken)
        remote.http.answer(ScriptedHTTP.json(Fixtures.keySet.replacing("ec-1", with: "ec-2")))
        remote.world.time.advance(seconds: 3599)
        #expect(await remote.world.result(Fixtures.ecToken) == .refused(.expired))
        #expect(remote.http.calls == 1)
        remote.world.time.advance(seconds: 1)
        // Who has its key starts the fetch without waiting for it; who has none waits with it.
        #expect(await remote.world.result(Fixtures.ecToken) == .refused(.expired))
        _ = await remote.world.result(try remote.unknownKey("new"))
        #expect(await remote.world.result(Fixtures.ecToken) == .refused(.notAuthorized))
        #expect(remote.http.calls == 2)
    }

    @Test("before any set is there tokens are not refused but cannot be judged")
    func unavailable() async throws {
        let remote = try await Remote(.response(status: 503, headers: [], body: []))
        for _ in 0..<10 {
            guard case .unavailable = await remote.world.result(Fixtures.ecToken) else {
                Issue.record("judged without keys")
                return
            }
        }
        #expect(remote.http.calls == 1)
        remote.http.answer(ScriptedHTTP.json(Fixtures.keySet))
        remote.world.time.advance(seconds: 5)
        guard case .identity = await remote.world.result(Fixtures.ecToken) else {
            Issue.record("not tried again")
            return
        }
    }

    @Test("a token that no key could have made asks for no fetch")
    func noFetch() async throws {
        let remote = try await Remote(ScriptedHTTP.json(Fixtures.keySet))
        #expect(await remote.world.result(Fixtures.confusedToken) == .refused(.notAuthorized))
        #expect(remote.http.calls == 0)
    }
}
