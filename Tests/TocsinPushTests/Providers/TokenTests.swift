import Foundation
import Testing
import TocsinCore
import TocsinPush

@Suite("Provider tokens")
struct TokenTests {
    private let payload = PushPayload(message: TestModels().message("m1"), topic: nil)
    private let providers = TestProviders()

    private func decoded(_ part: Substring) throws -> String {
        var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
    }

    @Test("Apple's token says key, team and time in seconds, and nothing more")
    func apnsClaims() async throws {
        _ = await providers.apns.results(payload, to: ["t"])
        let header = try #require(providers.transport.sent.first?.header("authorization"))
        #expect(header.hasPrefix("bearer "))
        let parts = header.dropFirst(7).split(separator: ".")
        #expect(try decoded(parts[0]) == #"{"alg":"ES256","typ":"JWT","kid":"KEY0000001"}"#)
        #expect(try decoded(parts[1]) == #"{"iss":"TEAM000001","iat":1785000000}"#)
        #expect(parts[2] == "AQIDBA")
    }

    @Test("Apple's token serves 50 minutes", arguments: [(2999.0, 1), (3000.0, 2)])
    func apnsReuse(_ seconds: Double, _ expected: Int) async {
        let provider = providers.apns
        _ = await provider.results(payload, to: ["t"])
        providers.time.advance(seconds: seconds)
        _ = await provider.results(payload, to: ["t"])
        #expect(Set(providers.transport.sent.map { $0.header("authorization") }).count == expected)
    }

    private func tokenCount() -> Int { Set(providers.transport.sent.map { $0.header("authorization") }).count }

    @Test("after TooManyProviderTokenUpdates no new token is made for 20 minutes, unless the old one dies of age")
    func apnsHold() async {
        let provider = providers.apns
        _ = await provider.results(payload, to: ["t"])
        providers.time.advance(seconds: 2990)
        providers.transport.answer { _, _ in .apns(429, "TooManyProviderTokenUpdates") }
        _ = await provider.results(payload, to: ["t"])
        providers.transport.answer { _, _ in .ok }
        providers.time.advance(seconds: 540)
        _ = await provider.results(payload, to: ["t"])
        #expect(tokenCount() == 1)
        providers.time.advance(seconds: 20)
        _ = await provider.results(payload, to: ["t"])
        #expect(tokenCount() == 2)
    }

    @Test("a connection that has seen too many tokens is left, and the push goes out on a new one at once")
    func apnsHeldConnection() async {
        providers.transport.answer { _, earlier in earlier == 0 ? .apns(429, "TooManyProviderTokenUpdates") : .ok }
        _ = await providers.apns.results(payload, to: ["t"])
        let sent = providers.transport.sent
        #expect(sent.count == 2 && sent[0].batch.pool != sent[1].batch.pool)
        #expect(providers.transport.closed == [sent[0].batch.pool])
        #expect(tokenCount() == 1)
    }

    @Test("a connection carries one token only, when the token is renewed after 50 minutes too")
    func oneTokenAConnection() async {
        let provider = providers.apns
        for _ in 0..<40 {
            _ = await provider.results(payload, to: ["t"])
            providers.time.advance(seconds: 700)
        }
        let tokensByPool = Dictionary(grouping: providers.transport.sent, by: \.batch.pool)
            .mapValues { Set($0.map { $0.header("authorization") }).count }
        #expect(tokensByPool.count > 3 && tokensByPool.values.allSatisfy { $0 == 1 })
        #expect(Set(providers.transport.closed).count == tokensByPool.count - 1)
    }

    @Test("when the new token is refused as expired as well, no third one is made for 20 minutes")
    func apnsExpiredForEver() async {
        let provider = providers.apns
        _ = await provider.results(payload, to: ["t"])
        providers.time.advance(seconds: 60)
        providers.transport.answer { _, _ in .apns(403, "ExpiredProviderToken") }
        _ = await provider.results(payload, to: ["t"])
        for _ in 0..<19 {
            providers.time.advance(seconds: 60)
            _ = await provider.results(payload, to: ["t"])
        }
        #expect(tokenCount() == 2)
        providers.time.advance(seconds: 61)
        _ = await provider.results(payload, to: ["t"])
        #expect(tokenCount() == 3)
    }

    @Test("many orders that find their connection stuck replace it once")
    func replacedOnce() async {
        let provider = providers.apns
        providers.transport.answer { sent, _ in sent.batch.pool.generation == 0 ? nil : .ok }
        let transport = providers.transport
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<10 { group.addTask { _ = await provider.results(payload, to: ["t\(index)"]) } }
            while transport.heldCount < 10 { await Task.yield() }
            transport.release(.apns(503, "Shutdown"))
        }
        #expect(transport.closed.count == 1)
        #expect(transport.sent.count == 20)
    }

    @Test("a clock set back makes the token of the future useless: another one is made")
    func clockSetBack() async {
        let later = ManualTime(providers.time.now().adding(seconds: 7200))
        let source = APNsTokenSource(teamID: "T", keyID: "K", signer: FixedSigner(), time: later)
        let first = try? source.token()
        later.setBack(to: providers.time.now())
        #expect(first != nil && (try? source.token()) != first)
    }

    @Test("a clock that Google's date contradicts is named")
    func googlesClock() async {
        let refusal = OutgoingAnswer.response(
            status: 400,
            headers: [("date", "Sat, 25 Jul 2026 15:20:00 GMT")],
            body: Array("{\"error\":\"invalid_grant\",\"error_description\":\"Invalid JWT\"}".utf8)
        )
        providers.tokenEndpoint.answerNext([refusal])
        let expected = PushResult.pause(
            reason: DeliveryReason(
                rawValue: "token endpoint: invalid_grant (Invalid JWT). Set the clock: this machine's clock is 7200 s "
                    + "ahead of Google's."
            )
        )
        #expect(await providers.fcm.results(payload, to: ["t"]) == [expected])
    }

    @Test("Google's assertion names account, scope, audience and an hour")
    func fcmAssertion() async throws {
        _ = await providers.fcm.results(payload, to: ["t"])
        let call = try #require(providers.tokenEndpoint.calls.first)
        #expect(call.url == "https://token.example/token" && call.method == "POST")
        let form = String(decoding: call.body, as: UTF8.self)
        #expect(form.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="))
        let parts = form.split(separator: "=").last.map { $0.split(separator: ".") } ?? []
        #expect(try decoded(parts[0]) == #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#)
        let claims =
            #"{"iss":"push@demo.example","scope":"https://www.googleapis.com/auth/firebase.messaging","#
            + #""aud":"https://token.example/token","iat":1785000000,"exp":1785003600}"#
        #expect(try decoded(parts[1]) == claims)
    }

    @Test(
        "Google's token serves 58 minutes or nine tenths of its life",
        arguments: [(3600, 3239.0, 1), (3600, 3241.0, 2), (7200, 3479.0, 1), (7200, 3481.0, 2)]
    )
    func fcmReuse(_ life: Int, _ seconds: Double, _ expected: Int) async {
        let provider = providers.fcm
        providers.tokenEndpoint.answerNext([ScriptedTokenEndpoint.token("a", expiresIn: life)])
        _ = await provider.results(payload, to: ["t"])
        providers.time.advance(seconds: seconds)
        _ = await provider.results(payload, to: ["t"])
        #expect(providers.tokenEndpoint.calls.count == expected)
    }

    @Test("many who ask at once share one fetch")
    func singleFlight() async {
        let source = FCMAccessTokenSource(
            credentials: FCMCredentials(projectID: "p", clientEmail: "e", signer: FixedSigner()),
            http: providers.tokenEndpoint,
            time: providers.time
        )
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = await source.token() } }
        }
        #expect(providers.tokenEndpoint.calls.count == 1)
    }

    @Test("a failed refresh keeps the old token while it is valid, then waits 1, 2, 4 … seconds")
    func failedRefresh() async {
        let provider = providers.fcm
        _ = await provider.results(payload, to: ["t"])
        providers.time.advance(seconds: 3300)
        let failure = OutgoingAnswer.failed(reason: "timeout")
        providers.tokenEndpoint.answerNext(Array(repeating: failure, count: 20))
        guard case .accepted = await provider.results(payload, to: ["t"]).first ?? nil else {
            return #expect(Bool(false), "the old token was not used")
        }
        providers.time.advance(seconds: 300)
        let expected = PushResult.pause(reason: "token endpoint: timeout")
        #expect(await provider.results(payload, to: ["t"]) == [expected])
        let calls = providers.tokenEndpoint.calls.count
        providers.time.advance(seconds: 1)
        #expect(await provider.results(payload, to: ["t"]) == [expected])
        #expect(providers.tokenEndpoint.calls.count == calls)
        providers.time.advance(seconds: 1)
        #expect(await provider.results(payload, to: ["t"]) == [expected])
        #expect(providers.tokenEndpoint.calls.count == calls + 1)
    }

    @Test("invalid_grant pauses and says what to check")
    func invalidGrant() async {
        let body = #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#
        providers.tokenEndpoint.answerNext([.response(status: 400, headers: [], body: Array(body.utf8))])
        let results = await providers.fcm.results(payload, to: ["t"])
        #expect(
            results == [
                .pause(
                    reason: DeliveryReason(
                        rawValue: "token endpoint: invalid_grant (Invalid JWT Signature.). Check this machine's clock, "
                            + "and that the key of push@demo.example has not been revoked."
                    )
                )
            ]
        )
        #expect(providers.transport.sent.isEmpty)
    }
}
