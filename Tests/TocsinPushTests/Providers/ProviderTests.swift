import Testing
import TocsinCore
import TocsinPush

@Suite("Providers")
struct ProviderTests {
    private let payload = PushPayload(message: TestModels().message("m1"), topic: nil)

    @Test("every device of an order gets its own result", arguments: PushService.allCases)
    func ownResults(_ service: PushService) async {
        let providers = TestProviders()
        providers.transport.answer { sent, _ in sent.token == "t2" ? .unknown(reason: "reset") : .ok }
        let results = await providers.provider(service).results(payload, to: ["t1", "t2", "t3"])
        let broken = PushResult.retry(PushRetry(.brokenRequest, reason: "NO_ANSWER: reset"))
        #expect(results.count == 3 && results[1] == broken)
        for index in [0, 2] {
            guard case .accepted = results[index] else {
                return #expect(Bool(false), "\(String(describing: results[index]))")
            }
        }
    }

    @Test("a push the peer did not look at goes out again at once, the others do not", arguments: PushService.allCases)
    func resends(_ service: PushService) async {
        let providers = TestProviders()
        providers.transport.answer { sent, earlier in
            sent.token == "t2" && earlier < 2 ? .notProcessed(reason: "GOAWAY") : .ok
        }
        let results = await providers.provider(service).results(payload, to: ["t1", "t2"])
        for result in results {
            guard case .accepted = result else { return #expect(Bool(false), "\(String(describing: result))") }
        }
        #expect(providers.transport.sent.map(\.token) == ["t1", "t2", "t2", "t2"])
    }

    @Test("one new credential mends a refused one, for the whole order", arguments: PushService.allCases)
    func newCredential(_ service: PushService) async {
        let providers = TestProviders()
        let provider = providers.provider(service)
        _ = await provider.results(payload, to: ["t0"])
        let old = providers.transport.sent[0].header("authorization")
        providers.time.advance(seconds: 60)
        providers.transport.answer { sent, _ in
            guard sent.header("authorization") == old else { return .ok }
            return service == .apns ? .apns(403, "ExpiredProviderToken") : .fcm(401, "UNAUTHENTICATED")
        }
        let results = await provider.results(payload, to: ["t1", "t2"])
        for result in results {
            guard case .accepted = result else { return #expect(Bool(false), "\(String(describing: result))") }
        }
        #expect(Set(providers.transport.sent.map { $0.header("authorization") }).count == 2)
        #expect(providers.transport.sent.count == 5)
        #expect(providers.transport.closed.count == (service == .apns ? 1 : 0))
    }

    @Test("a payload the provider finds too large is sent again with ids only", arguments: PushService.allCases)
    func smaller(_ service: PushService) async {
        let providers = TestProviders()
        providers.transport.answer { _, earlier in
            earlier == 0
                ? .response(
                    PushResponse(status: 413, headers: [], body: Array("{\"reason\":\"PayloadTooLarge\"}".utf8))
                ) : .ok
        }
        let message = TestModels().message("m1", ["data": .json("{\"k\":\"v\"}")])
        _ = await providers.provider(service).results(PushPayload(message: message, topic: nil), to: ["t1"])
        let bodies = providers.transport.sent.map(\.text)
        #expect(bodies.count == 2)
        #expect(bodies[0].contains("\"k\"") && !bodies[1].contains("\"k\""))
        #expect(bodies[1].contains("\"messageId\":\"m1\""))
    }

    @Test("a token that no path can carry never leaves")
    func malformedToken() async {
        let providers = TestProviders()
        let results = await providers.apns.results(payload, to: ["../x", "abcd"])
        #expect(results[0] == .retire(reason: "MALFORMED_TOKEN", deadSince: nil))
        #expect(providers.transport.sent.map(\.token) == ["abcd"])
    }

    @Test("quotes in an FCM token stay inside their string")
    func escapedToken() async {
        let providers = TestProviders()
        _ = await providers.fcm.results(payload, to: ["a\"b\\"])
        #expect(providers.transport.sent.first?.text.hasPrefix(#"{"message":{"token":"a\"b\\","data""#) == true)
    }

    @Test("a device's own app and side decide its lane, defaults fill in")
    func lanes() {
        let provider = TestProviders().apns
        var device = Device.sample("d", token: "t")
        #expect(provider.lane(of: device)?.appID == "com.example.app")
        #expect(provider.lane(of: device)?.environment == .sandbox)
        device.appID = "com.example.other"
        device.environment = .production
        #expect(provider.lane(of: device)?.appID == "com.example.other")
        #expect(provider.lane(of: device)?.environment == .production)
        device.appID = "bad\r\nheader"
        #expect(provider.lane(of: device) == nil)
    }

    @Test("a key that cannot sign pauses and says why")
    func brokenKey() async {
        var providers = TestProviders()
        providers.signer = BrokenSigner()
        #expect(await providers.apns.results(payload, to: ["t"]) == [.pause(reason: "APNs key: the key is broken")])
        #expect(providers.transport.sent.isEmpty)
    }

    @Test("a clock that is off by more than five minutes is named")
    func skew() async {
        let providers = TestProviders()
        providers.transport.answer { _, _ in
            .apns(403, "InvalidProviderToken", headers: [PushHeader("date", "Sat, 25 Jul 2026 15:20:00 GMT")])
        }
        let expected = PushResult.pause(
            reason: "InvalidProviderToken (this machine's clock is 7200 s ahead of Apple's)"
        )
        #expect(await providers.apns.results(payload, to: ["abcd"]) == [expected])
    }

    @Test("a host that fails is asked once more over a connection beside the usual one")
    func otherConnection() async {
        let providers = TestProviders()
        providers.transport.answer { sent, _ in
            sent.batch.pool.isSpare ? .ok : .apns(500, "InternalServerError")
        }
        let results = await providers.apns.results(payload, to: ["t1", "t2"])
        for result in results {
            guard case .accepted = result else { return #expect(Bool(false), "\(String(describing: result))") }
        }
        #expect(providers.transport.sent.count == 4 && providers.transport.closed.isEmpty)
    }

    @Test("a provider that fails for many is not asked again at once")
    func noOtherConnection() async {
        let providers = TestProviders()
        providers.transport.answer { _, _ in .apns(503, "ServiceUnavailable") }
        let results = await providers.apns.results(payload, to: (0..<50).map { "t\($0)" })
        let fault = PushResult.retry(PushRetry(.serverFault, reason: "ServiceUnavailable"))
        #expect(results == Array(repeating: fault, count: 50))
        #expect(providers.transport.sent.count == 50)
    }

    @Test("yesterday's names are today's in the ledger")
    func legacyNames() {
        for name in LegacyReason.names.values { #expect(LegacyReason.today(name.rawValue) == name) }
        #expect(LegacyReason.today("NotRegistered") == "UNREGISTERED")
        #expect(LegacyReason.today("BrandNew") == "BrandNew")
    }
}
