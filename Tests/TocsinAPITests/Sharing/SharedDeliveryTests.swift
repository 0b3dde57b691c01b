import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// `onDelivery(messageId:)` in a topic that is shared.
@Suite("Following pushes in shared topics", .timeLimit(.minutes(2)))
struct SharedDeliveryTests {
    private static let document = "subscription($m: ID) { onDelivery(messageId: $m) { status userId } }"

    /// Alice's message, and a phone each of hers, bob's and carol's.
    private struct Scene {
        let sharing: SharingScene
        let message: String
        var api: APIHarness { sharing.api }

        init() async throws {
            sharing = try await SharingScene()
            let made = try await sharing.api.publish("Hello", to: sharing.topic)
            message = try #require(made["id"]?.stringValue, "\(made)")
            for (index, caller) in [SharingScene.alice, SharingScene.bob, SharingScene.carol].enumerated() {
                let token = String(repeating: "a\(index)", count: 16)
                let register = "mutation { registerPushToken(token: \"\(token)\", platform: \"ios\") { userId } }"
                #expect(try await sharing.api.run(register, as: caller)["errors"] == nil)
            }
        }

        func follow(as caller: Identity, _ id: String? = nil) async -> (sink: CollectingSink, outcome: SubscribeOutcome)
        {
            await api.subscribe(SharedDeliveryTests.document, ["m": .string(id ?? message)], as: caller)
        }

        /// Something becomes of the push to each of them.
        func deliver(_ status: DeliveryStatus) async throws {
            let (message, now) = (MessageID(message), api.time.now())
            try await api.store.write { writer throws(StoreError) in
                for caller in [SharingScene.alice, SharingScene.carol, SharingScene.bob] {
                    for device in try writer.devices(of: caller.userID) {
                        let delivery = Delivery(
                            id: DeliveryID("d-\(device.id)"),
                            messageID: message,
                            deviceID: device.id,
                            platform: device.platform,
                            status: status,
                            reason: nil,
                            attempts: 1,
                            updatedAt: now
                        )
                        try writer.save([delivery])
                        writer.note(.deliveryChanged(delivery))
                    }
                }
            }
        }
    }

    private static func heard(_ sink: CollectingSink, _ count: Int) async throws -> [String] {
        try await sink.take(count).map {
            let event = $0["data"]?["onDelivery"]
            return "\(event?["userId"]?.stringValue ?? "\($0)") \(event?["status"]?.stringValue ?? "")"
        }
    }

    private static func refusal(_ outcome: SubscribeOutcome) -> String? {
        guard case .refused(let errors) = outcome else { return nil }
        return String(decoding: errors, as: UTF8.self)
    }

    @Test("a reader hears of their own devices, the owner and who has OWNER of all, a publisher nothing")
    func roles() async throws {
        let scene = try await Scene()
        let dora = APIHarness.identity("dora")
        try await SharingScene.add("dora", to: scene.api)
        try await scene.sharing.granted(["READER"], to: ["user": "bob"])
        try await scene.sharing.granted(["OWNER"], to: ["user": "carol"])
        try await scene.sharing.granted(["PUBLISHER"], to: ["user": "dora"])
        let (owner, _) = await scene.follow(as: SharingScene.alice)
        let (reader, _) = await scene.follow(as: SharingScene.bob)
        let (managing, _) = await scene.follow(as: SharingScene.carol)
        let absent = Self.refusal(await scene.follow(as: dora, "01900000-0000-7000-8000-000000000002").outcome)
        #expect(absent?.contains("UNAUTHORIZED") == true)
        for caller in [dora, APIHarness.identity("eve")] {
            #expect(Self.refusal(await scene.follow(as: caller).outcome) == absent)
        }
        for status in [DeliveryStatus.sending, .accepted] {
            try await scene.deliver(status)
            let word = status.rawValue.uppercased()
            let all = ["sub-alice \(word)", "sub-carol \(word)", "sub-bob \(word)"]
            #expect(try await Self.heard(owner, 3) == all)
            #expect(try await Self.heard(managing, 3) == all)
            #expect(try await Self.heard(reader, 1) == ["sub-bob \(word)"])
        }
    }

    @Test("it ends with the grant, and begins anew with another role", arguments: ["READER", "OWNER"])
    func ends(role: String) async throws {
        let scene = try await Scene()
        let grant = try await scene.sharing.granted([role], to: ["user": "bob"])
        let (sink, _) = await scene.follow(as: SharingScene.bob)
        let (owner, _) = await scene.follow(as: SharingScene.alice)
        #expect(try await scene.sharing.revoke(grant)["errors"] == nil)
        #expect(try await sink.take(1) == [])
        let ended = try sink.failure()
        #expect(ended?["extensions"]?["code"] == "UNAUTHORIZED")
        let refusal = try #require(Self.refusal(await scene.follow(as: SharingScene.bob).outcome))
        #expect(try JSONParser.parse(refusal)[0] == ended, "the end looks like a refusal")
        try await scene.deliver(.accepted)
        #expect(try await Self.heard(owner, 3).count == 3, "the owner goes on")
        try await scene.sharing.granted(["READER"], to: ["user": "bob"])
        let (again, _) = await scene.follow(as: SharingScene.bob)
        try await scene.deliver(.failed)
        #expect(try await Self.heard(again, 1) == ["sub-bob FAILED"])
    }

    @Test("who had OWNER and may only read from now on is ended, and then hears of their own devices alone")
    func narrowed() async throws {
        let scene = try await Scene()
        try await scene.sharing.granted(["OWNER"], to: ["user": "bob"])
        let (all, _) = await scene.follow(as: SharingScene.bob)
        try await scene.deliver(.sending)
        #expect(try await Self.heard(all, 3).count == 3)
        try await scene.sharing.granted(["READER"], to: ["user": "bob"])
        #expect(try await all.take(1) == [])
        #expect(try all.failure()?["extensions"]?["code"] == "UNAUTHORIZED")
        let (own, _) = await scene.follow(as: SharingScene.bob)
        try await scene.deliver(.accepted)
        #expect(try await Self.heard(own, 1) == ["sub-bob ACCEPTED"])
        try await scene.deliver(.failed)
        #expect(try await Self.heard(own, 1) == ["sub-bob FAILED"])
    }
}
