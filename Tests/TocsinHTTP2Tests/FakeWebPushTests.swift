import Foundation
import JSON
import NIOCore
import NIOPosix
import Synchronization
import Testing
import TocsinAuth
import TocsinCore
import TocsinHTTP2
import TocsinPush
import TocsinSimulator

/// The provider, the transport and the fake push service, which refuses what real ones
/// refuse and decrypts the rest.
@Suite("Web Push over HTTP/2", .timeLimit(.minutes(5)))
struct FakeWebPushTests {
    /// Time that goes on by itself.
    private struct Clock: TimeSource {
        func now() -> Timestamp { Timestamp(milliseconds: WallClock.milliseconds()) }
        func sleep(until moment: Timestamp) async throws {
            try await Task.sleep(for: .milliseconds(max(0, moment.milliseconds - now().milliseconds)))
        }
    }

    /// A simulator, and a provider with its key that pushes there.
    private struct Scene {
        let simulator: PushSimulator
        let transport: HTTP2Transport
        let provider: WebPushProvider

        func push(to subscription: String, title: String = "Disk full", priority: Int = 3) async -> PushResult? {
            let payload = Self.payload(title: title, priority: priority)
            let device = Device(
                id: DeviceID("d"),
                userID: UserID("ann"),
                platform: .web,
                environment: nil,
                appID: "",
                token: subscription,
                name: nil,
                registeredAt: payload.committedAt,
                lastSeenAt: payload.committedAt
            )
            guard let lane = provider.lane(of: device) else { return nil }
            let order = PushOrder(
                payload: payload,
                lane: lane,
                targets: [
                    PushTarget(token: subscription, deliveryID: DeliveryID("11111111-1111-8111-8111-111111111111"))
                ],
                deadline: payload.deadline(lifetimeSeconds: 600)
            )
            let result = Mutex<PushResult?>(nil)
            let box = Box(result)
            await provider.send(order) { _, answer in box.value.withLock { $0 = answer } }
            return box.value.withLock { $0 }
        }

        final class Box: Sendable {
            let value: Mutex<PushResult?>
            init(_ value: consuming Mutex<PushResult?>) { self.value = value }
        }

        static func payload(title: String, priority: Int) -> PushPayload {
            let names = ["id", "topicId", "number", "title", "body", "priority", "_lastChangedAt"]
            let kinds: [ModelField.Kind] = [.text, .text, .int, .text, .text, .int, .int]
            let fields = zip(names, kinds).map { name, kind in
                ModelField(name: name, typeName: "String", kind: kind, isRequired: false, storage: .extra(name))
            }
            let model = ModelType(
                name: "Message",
                plural: "Messages",
                table: ShippedTables.layout(of: "Message").table,
                fields: fields,
                indexes: [],
                relations: [],
                rules: []
            )
            var record = Record(model: model)
            record["id"] = .text("m1")
            record["topicId"] = .text("t1")
            record["number"] = .int(1)
            record["title"] = .text(title)
            record["body"] = .text("db-3 is at 91 %")
            record["priority"] = .int(Int64(priority))
            record["_lastChangedAt"] = .int(WallClock.milliseconds())
            return PushPayload(message: record, topic: nil)
        }
    }

    private func run(
        key: VAPIDKey? = nil,
        rules: WebPushAddressRules = WebPushAddressRules(allowsPrivateAddresses: true),
        _ body: (Scene) async throws -> Void
    ) async throws {
        let folder = NSTemporaryDirectory() + "tocsin-webpush-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = SimulatorSettings(folder: folder)
        settings.slowAnswerSeconds = 0.01
        let simulator = try PushSimulator(settings: settings)
        let addresses = try await simulator.start()
        let pem = try String(contentsOfFile: folder + "/vapid-key.pem", encoding: .utf8)
        let key = try key ?? VAPIDKey(privateText: pem)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let transport = try HTTP2Transport(
            group: group,
            settings: HTTP2Settings(authorityPath: addresses.authorityPath)
        )
        let provider = WebPushProvider(
            credentials: WebPushCredentials(
                signer: key,
                publicKey: key.publicText,
                subject: "mailto:ops@example.com"
            ),
            crypto: WebPushCipher(),
            rules: rules,
            transport: transport,
            time: Clock(),
            timeoutSeconds: 3
        )
        let scene = Scene(simulator: simulator, transport: transport, provider: provider)
        do {
            try await body(scene)
        } catch {
            await end(scene, group)
            throw error
        }
        await end(scene, group)
    }

    private func end(_ scene: Scene, _ group: MultiThreadedEventLoopGroup) async {
        await scene.transport.shutdown(graceSeconds: 0.1)
        await scene.simulator.stop()
        try? await group.shutdownGracefully()
    }

    @Test("the browser decrypts the text that was pushed to it, and a stranger's text never comes")
    func decrypts() async throws {
        try await run { scene in
            let ours = try scene.simulator.makeSubscription().serializedString()
            let other = try scene.simulator.makeSubscription().serializedString()
            let result = await scene.push(to: ours, title: "Größe 91 %", priority: 5)
            guard case .accepted(let id?, _)? = result else {
                return #expect(Bool(false), "\(String(describing: result))")
            }
            #expect(id.contains("/message/"))
            let pushes = scene.simulator.pushes()
            #expect(pushes.count == 1)
            #expect(pushes[0]["payload"]?["notification"]?["title"] == "Größe 91 %")
            #expect(pushes[0]["headers"]?["urgency"] == "high")
            #expect(pushes[0]["headers"]?["authorization"] == nil)
            #expect(try !other.contains(#require(pushes[0]["token"]?.stringValue)))
        }
    }

    @Test("a text of any length arrives within the service's limit", arguments: [0, 100, 4000, 100_000])
    func longTitles(_ count: Int) async throws {
        try await run { scene in
            let browser = try scene.simulator.makeSubscription().serializedString()
            let result = await scene.push(to: browser, title: "T" + String(repeating: "ü", count: count))
            guard case .accepted? = result else { return #expect(Bool(false), "\(String(describing: result))") }
            let bytes = try #require(scene.simulator.pushes().first?["bytes"]?.intValue)
            #expect(bytes <= 4096)
        }
    }

    /// What a subscription made with a script leads to, and how many requests it takes.
    static let scripts: [(script: String, result: PushResult, requests: Int)] = [
        ("gone", .retire(reason: "HTTP 410 Unsubscribed", deadSince: nil), 1),
        ("missing", .retire(reason: "HTTP 404 NotFound", deadSince: nil), 1),
        ("badrequest", .refused(reason: "HTTP 400 BadRequest"), 1),
        ("unauthorized", .pause(reason: "HTTP 401 BadJwtToken: the VAPID key was refused"), 2),
        ("forbidden", .pause(reason: "HTTP 403 VapidPkHashMismatch: the VAPID key was refused"), 2),
        ("toolarge", .refused(reason: "HTTP 413 PayloadTooLarge: too large"), 2),
        ("throttled", .retry(PushRetry(.deviceQuota, reason: "HTTP 429 TooManyRequests", afterSeconds: 1)), 1),
        ("broken", .retry(PushRetry(.serverFault, reason: "HTTP 500 InternalServerError")), 1),
        ("unavailable", .retry(PushRetry(.serverFault, reason: "HTTP 503 ServiceUnavailable", afterSeconds: 1)), 1),
        ("redirect", .refused(reason: "HTTP 307 TemporaryRedirect"), 1),
    ]

    @Test("each answer of the service leads to its result", arguments: scripts.indices)
    func answers(_ index: Int) async throws {
        let row = Self.scripts[index]
        try await run { scene in
            let browser = try scene.simulator.makeSubscription(script: row.script).serializedString()
            #expect(await scene.push(to: browser) == row.result)
            #expect(scene.simulator.pushes().count == row.requests)
        }
    }

    @Test("streams that break lead to another try, as everywhere", arguments: ["reset", "lost", "close", "silent"])
    func brokenStreams(_ script: String) async throws {
        try await run { scene in
            let browser = try scene.simulator.makeSubscription(script: script).serializedString()
            guard case .retry(let retry)? = await scene.push(to: browser) else { return #expect(Bool(false)) }
            #expect(retry.cause == .brokenRequest)
        }
    }

    @Test("a counted script ends: the next push is taken")
    func countedScript() async throws {
        try await run { scene in
            let browser = try scene.simulator.makeSubscription(script: "broken-1").serializedString()
            guard case .retry? = await scene.push(to: browser) else { return #expect(Bool(false)) }
            guard case .accepted? = await scene.push(to: browser) else { return #expect(Bool(false)) }
        }
    }

    @Test("another key than the one the browser subscribed with is refused, and nothing arrives")
    func foreignKey() async throws {
        try await run(key: VAPIDKey.make()) { scene in
            let browser = try scene.simulator.makeSubscription().serializedString()
            let result = await scene.push(to: browser)
            #expect(result == .pause(reason: "HTTP 403 VapidPkHashMismatch: the VAPID key was refused"))
        }
    }

    @Test("without leave, nothing connects to this machine, even by a name that is allowed")
    func noLoopback() async throws {
        try await run { scene in
            let browser = try scene.simulator.makeSubscription()
            let origin = browser["endpoint"]?.stringValue?.split(separator: "/push/").first.map(String.init) ?? ""
            let answers = Mutex<[PushAnswer]>([])
            let box = Answers(answers)
            await scene.transport.send(
                PushBatch(
                    pool: PushPool(origin: origin, credential: "k", refusesPrivateAddresses: true),
                    sharedHeaders: [],
                    requests: [PushBatch.Request(path: "/push/1", headers: [], body: [1])],
                    timeoutSeconds: 3
                )
            ) { _, answer in box.value.withLock { $0.append(answer) } }
            guard case .unreachable(let reason)? = box.value.withLock({ $0.first }) else { return #expect(Bool(false)) }
            #expect(reason.hasSuffix("has no public address"), "\(reason)")
            #expect(scene.simulator.stats["webpush"]?["connections"] == 0)
        }
    }

    private final class Answers: Sendable {
        let value: Mutex<[PushAnswer]>
        init(_ value: consuming Mutex<[PushAnswer]>) { self.value = value }
    }

    @Test(
        "addresses for special use are not of the internet",
        arguments: [
            ([127, 0, 0, 1], false), ([10, 1, 2, 3], false), ([172, 16, 0, 1], false), ([172, 32, 0, 1], true),
            ([192, 168, 1, 1], false), ([169, 254, 169, 254], false), ([100, 64, 0, 1], false), ([0, 0, 0, 0], false),
            ([224, 0, 0, 1], false), ([255, 255, 255, 255], false), ([8, 8, 8, 8], true), ([142, 250, 1, 1], true),
        ] as [([UInt8], Bool)]
    )
    func addressesV4(_ bytes: [UInt8], _ expected: Bool) {
        #expect(PublicAddress.isPublic(v4: bytes) == expected)
        // The same behind NAT64, and mapped, which is never of the internet.
        #expect(PublicAddress.isPublic(v6: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] + bytes) == expected)
        #expect(!PublicAddress.isPublic(v6: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] + bytes))
    }

    @Test(
        "so it is with version 6",
        arguments: [
            ([0x26, 0x07, 0xF8, 0xB0], true), ([0x2A, 0x00, 0x14, 0x50], true), ([0x20, 0x01, 0x48, 0x60], true),
            ([0x20, 0x01, 0x0D, 0xB8], false), ([0x20, 0x01, 0, 0], false), ([0x20, 0x02, 0x7F, 0], false),
            ([0xFC, 0, 0, 0], false), ([0xFD, 0, 0, 0], false), ([0xFE, 0x80, 0, 0], false), ([0xFF, 2, 0, 0], false),
            ([0, 0, 0, 0], false),
        ] as [([UInt8], Bool)]
    )
    func addressesV6(_ start: [UInt8], _ expected: Bool) {
        #expect(PublicAddress.isPublic(v6: start + [UInt8](repeating: 0, count: 11) + [1]) == expected)
    }
}
