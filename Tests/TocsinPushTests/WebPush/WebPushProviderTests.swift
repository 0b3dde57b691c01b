import Encodings
import JSON
import Synchronization
import Testing
import TocsinAuth
import TocsinCore
import TocsinPush

@Suite("Pushes to browsers")
struct WebPushProviderTests {
    private static let token = Browser.subscription("https://push.example/p/A1?x=y")
    private let time = ManualTime()
    private let transport = ScriptedTransport()

    private func provider(_ crypto: any WebPushCrypto = PlainCrypto()) -> WebPushProvider {
        WebPushProvider(
            credentials: WebPushCredentials(signer: FixedSigner(), publicKey: "PUBLIC", subject: "mailto:a@b.example"),
            crypto: crypto,
            rules: WebPushAddressRules(),
            transport: transport,
            time: time
        )
    }

    private func order(_ tokens: [String], _ fields: [String: FieldValue] = [:], lane token: String? = nil) -> PushOrder
    {
        let payload = PushPayload(message: TestModels().message("m1", at: time.now(), fields), topic: nil)
        let lane = provider().lane(of: .sample("d", token: token ?? tokens[0], platform: .web))
        return PushOrder(
            payload: payload,
            lane: lane ?? PushLane(service: .webPush, platform: .web, appID: "", environment: nil),
            targets: tokens.map {
                PushTarget(token: $0, deliveryID: DeliveryID("11111111-1111-8111-8111-111111111111"))
            },
            deadline: payload.deadline(lifetimeSeconds: 21_600)
        )
    }

    private func send(_ order: PushOrder, _ provider: WebPushProvider? = nil) async -> [PushResult?] {
        let results = Mutexed([PushResult?](repeating: nil, count: order.targets.count))
        await (provider ?? self.provider()).send(order) { index, result in
            results.value.withLock { $0[index] = result }
        }
        return results.value.withLock { $0 }
    }

    @Test("a push goes to the subscription's address with every header RFC 8030 and RFC 8292 ask for")
    func request() async throws {
        transport.answer { _, _ in
            .response(
                PushResponse(status: 201, headers: [PushHeader("location", "https://push.example/m/9")], body: [])
            )
        }
        let results = await send(order([Self.token], ["priority": .int(4)]))
        #expect(results == [.accepted(providerID: "https://push.example/m/9")])
        let sent = try #require(transport.sent.first)
        #expect(sent.batch.pool.origin == "https://push.example")
        #expect(sent.batch.pool.refusesPrivateAddresses)
        #expect(sent.request.path == "/p/A1?x=y")
        #expect(sent.header("ttl") == "21600")
        #expect(sent.header("urgency") == "high")
        #expect(sent.header("content-encoding") == "aes128gcm")
        let topic = try #require(sent.header("topic"))
        #expect(topic.utf8.count == 32 && topic.allSatisfy { $0.isHexDigit })
        let authorization = try #require(sent.header("authorization"))
        #expect(authorization.hasPrefix("vapid t=") && authorization.hasSuffix(", k=PUBLIC"))
        let claims = try JSONParser.parse(
            #require(Base64URL.decoded(String(authorization.split(separator: ".")[1])))
        )
        #expect(claims["aud"] == "https://push.example")
        #expect(claims["sub"] == "mailto:a@b.example")
        #expect(claims["exp"] == .int(time.now().milliseconds / 1000 + 43_200))
    }

    @Test("the service worker gets what showNotification takes, and the ids")
    func payload() async throws {
        let fields: [String: FieldValue] = [
            "url": .text("https://ci.example/42"), "data": .json(#"{"branch":"main"}"#), "priority": .int(5),
            "push": .json(#"{"badge":3}"#),
        ]
        _ = await send(order([Self.token], fields))
        let body = try JSONParser.parse(try #require(transport.sent.first).request.body)
        #expect(body["web_push"] == 8030)
        #expect(body["app_badge"] == 3)
        #expect(body["silent"] == false)
        let notification = try #require(body["notification"])
        #expect(notification["title"] == "Build failed")
        #expect(notification["body"] == "main is red")
        #expect(notification["navigate"] == "https://ci.example/42")
        #expect(notification["requireInteraction"] == true)
        #expect(notification["data"]?["deliveryId"] == "11111111-1111-8111-8111-111111111111")
        #expect(notification["data"]?["messageId"] == "m1")
        #expect(notification["data"]?["data"]?["branch"] == "main")
    }

    @Test(
        "of an encrypted message the placeholder is shown, and the page's own code gets the ciphertext whole or not at all"
    )
    func encrypted() async throws {
        for body in ["0123abcd", String(repeating: "0f", count: 4000)] {
            let fields: [String: FieldValue] = [
                "title": .text("9f8e7d"), "body": .text(body), "url": .text("https://ci.example/1"),
                "push": .json(#"{"encrypted":true}"#),
            ]
            _ = await send(order([Self.token], fields))
        }
        let bodies = try transport.sent.map { try JSONParser.parse($0.request.body) }
        for body in bodies {
            #expect(body["notification"]?["title"] == "New message")
            #expect(body["notification"]?["data"]?["encrypted"] == true)
            #expect(body["web_push"] == nil)
        }
        #expect(bodies.first?["notification"]?["data"]?["body"] == "0123abcd")
        #expect(bodies.last?["notification"]?["data"]?["body"] == nil)
    }

    @Test(
        "urgency follows priority, and what is silent is of little",
        arguments: [
            (1, false, "very-low"), (2, false, "low"), (3, false, "high"), (5, false, "high"), (5, true, "normal"),
        ]
    )
    func urgency(priority: Int64, silent: Bool, expected: String) async throws {
        _ = await send(order([Self.token], ["priority": .int(priority), "push": .json(#"{"silent":\#(silent)}"#)]))
        #expect(transport.sent.first?.header("urgency") == expected)
    }

    @Test("messages of one key share a Topic, others do not")
    func topics() async throws {
        for key in ["a", "b", "a"] { _ = await send(order([Self.token], ["key": .text(key)])) }
        let topics = transport.sent.map { $0.header("topic") }
        #expect(topics[0] == topics[2] && topics[0] != topics[1])
    }

    @Test("the finished body fills 4096 bytes at most, however long the text", arguments: ["x", "é", "👩‍👩‍👧‍👦", "\""])
    func size(_ character: String) async throws {
        let text = String(repeating: character, count: 9000 / character.utf8.count)
        _ = await send(order([Self.token], ["body": .text(text)]), provider(WebPushCipher()))
        let bytes = try #require(transport.sent.first).request.body.count
        #expect(bytes <= 4096 && bytes > 4000, "\(bytes)")
    }

    @Test("each push service is a lane of its own")
    func lanes() {
        let origins = ["https://a.example/1", "https://a.example/2", "https://b.example/1"].map {
            provider().lane(of: .sample("d", token: Browser.subscription($0), platform: .web))?.appID
        }
        #expect(origins == ["https://a.example", "https://a.example", "https://b.example"])
    }

    @Test("a token of FCM's own is pushed by FCM, a subscription by Web Push")
    func services() {
        #expect(PushService(reaching: .sample("d", token: Self.token, platform: .web)) == .webPush)
        #expect(PushService(reaching: .sample("d", token: "fcm:APA91b", platform: .web)) == .fcm)
    }

    @Test("a token is used for half a day, and one for each service")
    func tokenReuse() async throws {
        let provider = provider()
        func authorizations(_ endpoint: String) async -> String? {
            _ = await send(order([Browser.subscription(endpoint)]), provider)
            return transport.sent.last?.header("authorization")
        }
        let first = await authorizations("https://a.example/1")
        time.advance(seconds: 11 * 3600)
        #expect(await authorizations("https://a.example/2") == first)
        #expect(await authorizations("https://b.example/1") != first)
        time.advance(seconds: 3600)
        #expect(await authorizations("https://a.example/1") != first)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var status: Int
        var headers: [PushHeader] = []
        var body = ""
        var result: PushResult
        var sends = 1
        var testDescription: String { "HTTP \(status) \(body)" }
    }

    static let rows: [Row] = [
        Row(status: 201, result: .accepted(providerID: nil)),
        Row(status: 200, result: .accepted(providerID: nil)),
        Row(status: 202, headers: [PushHeader("location", "/m/1")], result: .accepted(providerID: "/m/1")),
        Row(status: 400, result: .refused(reason: "HTTP 400")),
        Row(status: 400, body: #"{"reason":"BadTtl"}"#, result: .refused(reason: "HTTP 400 BadTtl")),
        Row(status: 400, body: #"{"reason":"<b>1</b>"}"#, result: .refused(reason: "HTTP 400")),
        Row(status: 307, headers: [PushHeader("location", "https://127.0.0.1/")], result: .refused(reason: "HTTP 307")),
        Row(status: 401, result: .pause(reason: "HTTP 401: the VAPID key was refused"), sends: 2),
        Row(status: 403, result: .pause(reason: "HTTP 403: the VAPID key was refused"), sends: 2),
        Row(status: 404, result: .retire(reason: "HTTP 404", deadSince: nil)),
        Row(status: 410, result: .retire(reason: "HTTP 410", deadSince: nil)),
        Row(status: 413, result: .refused(reason: "HTTP 413: too large"), sends: 2),
        Row(
            status: 429,
            headers: [PushHeader("retry-after", "7")],
            result: .retry(PushRetry(.deviceQuota, reason: "HTTP 429", afterSeconds: 7))
        ),
        Row(status: 429, result: .retry(PushRetry(.deviceQuota, reason: "HTTP 429", afterSeconds: 60))),
        Row(status: 500, result: .retry(PushRetry(.serverFault, reason: "HTTP 500"))),
        Row(
            status: 503,
            headers: [PushHeader("retry-after", "9")],
            result: .retry(PushRetry(.serverFault, reason: "HTTP 503", afterSeconds: 9))
        ),
    ]

    @Test("each answer leads to its result", arguments: rows)
    func answers(_ row: Row) async {
        transport.answer { _, _ in
            .response(PushResponse(status: row.status, headers: row.headers, body: Array(row.body.utf8)))
        }
        #expect(await send(order([Self.token])) == [row.result])
        #expect(transport.sent.count == row.sends)
    }

    @Test("after 413 the push is sent once more with less, and then accepted")
    func smallerOnce() async throws {
        transport.answer { _, earlier in
            .response(PushResponse(status: transport.sent.count == 1 ? 413 : 201, headers: [], body: []))
        }
        let long = order([Self.token], ["data": .json(#"{"k":"\#(String(repeating: "v", count: 2000))"}"#)])
        #expect(await send(long) == [.accepted(providerID: nil)])
        let sizes = transport.sent.map(\.request.body.count)
        #expect(sizes.count == 2 && sizes[1] < sizes[0] - 2000, "\(sizes)")
    }

    @Test("a device signed out while pushes are made ready gets nothing, and the others theirs")
    func signedOut() async throws {
        var order = order(["a", "b", "c"].map { Browser.subscription("https://push.example/p/" + $0) })
        order.cancellation = { $0 == 1 ? .unregistered : nil }
        let results = await send(order)
        #expect(
            results == [.accepted(providerID: nil), .skipped(reason: "UNREGISTERED"), .accepted(providerID: nil)]
        )
        #expect(transport.sent.map(\.token) == ["a", "c"])
    }

    @Test("a subscription that the settings no longer allow is skipped, not ended")
    func narrowedSettings() async {
        let results = await send(order([Browser.subscription("https://127.0.0.1/p")], lane: Self.token))
        guard case .skipped(let reason)? = results.first ?? nil else { return #expect(Bool(false), "\(results)") }
        #expect(reason.rawValue.hasPrefix("SUBSCRIPTION_NOT_USABLE"))
        #expect(transport.sent.isEmpty)
    }
}
