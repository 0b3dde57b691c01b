import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// What `createMessage` writes for the outbox, before any outbox has run.
@Suite("A message's fan-out begins in its own transaction")
struct FanoutStartTests {
    private static let join = "mutation($t: ID!, $p: Boolean) { subscribeToTopic(topicId: $t, push: $p) { push } }"
    private static let leave = "mutation($t: ID!) { unsubscribeFromTopic(topicId: $t) { push } }"

    private struct Start: Equatable {
        var rows: [String]
        var isFanningOut: Bool
    }

    private func start(_ api: APIHarness, _ topic: String) async throws -> (message: MessageID, start: Start) {
        let message = MessageID(try await api.publish("Hello", to: topic)["id"]?.stringValue ?? "")
        return (message, try await start(api, of: message))
    }

    private func start(_ api: APIHarness, of message: MessageID) async throws -> Start {
        try await api.store.read { reader throws(StoreError) in
            let rows = try reader.deliveries(of: message, status: nil, after: nil, limit: 99)
            return Start(
                rows: rows.map { row in
                    "\(row.deviceID.userWithoutDevice?.text ?? row.deviceID.text) \(row.status) \(row.reason ?? "-")"
                },
                isFanningOut: try reader.isFanningOut(message)
            )
        }
    }

    private func register(_ api: APIHarness, as name: String = "alice") async throws -> DeviceID {
        let answer = try await api.run(
            "mutation { registerPushToken(token: \"aa11bb22\", platform: \"ios\") { device { id } } }",
            as: APIHarness.identity(name)
        )
        return DeviceID(answer["data"]?["registerPushToken"]?["device"]?["id"]?.stringValue ?? "")
    }

    @Test("where no member has a device, each has their row at once, and no fan-out is left to do")
    func noDevices() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let (message, begun) = try await start(api, topic)
        let expected = Start(rows: ["sub-alice skipped NO_DEVICE"], isFanningOut: false)
        #expect(begun == expected)
        // Who signs in later gets later messages; of this one nothing changes.
        _ = try await register(api)
        #expect(try await start(api, of: message) == expected)
        let answer = try await api.run(
            "mutation { redriveDeliveries(messageId: \"\(message)\", status: SKIPPED) { skipped } }"
        )
        #expect(answer["data"]?["redriveDeliveries"]?["skipped"] == 1, "\(answer)")
        #expect(try await start(api, topic).start == Start(rows: [], isFanningOut: true))
    }

    @Test("the API shows what became of a message to a member without a device: rows, counts, gates and the reason")
    func shown() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.join(UserID("sub-bob"), topic)
        let message = try await api.publish("Hello", to: topic)["id"] ?? .null
        let row: JSONValue = ["userId": "sub-bob", "platform": "none", "status": "SKIPPED", "reason": "NO_DEVICE"]
        let query = """
            query($m: ID!, $s: DeliveryStatus, $n: String) { getMessage(id: $m) {
              deliveries(status: $s, limit: 1, nextToken: $n) { items { userId platform status reason } nextToken }
              deliverySummary { accepted skipped } } }
            """
        var users: [JSONValue] = []
        var next = JSONValue.null
        repeat {
            let answer = try await api.run(query, ["m": message, "s": "SKIPPED", "n": next])
            let found = answer["data"]?["getMessage"]
            #expect(found?["deliverySummary"] == ["accepted": 0, "skipped": 2], "\(answer.serializedString())")
            let items = found?["deliveries"]?["items"]?.arrayValue ?? []
            users += items.compactMap { $0["userId"] }
            next = found?["deliveries"]?["nextToken"] ?? .null
            if next == .null { #expect(items == [row]) }
        } while next != .null && users.count < 5
        #expect(users == ["sub-alice", "sub-bob"])
        let accepted = try await api.run(query, ["m": message, "s": "ACCEPTED"])
        #expect(accepted["data"]?["getMessage"]?["deliveries"] == ["items": [], "nextToken": nil])
        let explain = """
            query($m: ID!, $u: ID!) { explainDelivery(messageId: $m, userId: $u) {
              accepted deliveries { status reason } } }
            """
        let gates = try await api.run(explain, ["m": message, "u": "sub-bob"])
        #expect(
            gates["data"]?["explainDelivery"]
                == ["accepted": false, "deliveries": [["status": "SKIPPED", "reason": "NO_DEVICE"]]]
        )
    }

    @Test("members without a device are told of live while somebody listens, and no event is made before or after")
    func told() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let noted = Mutex<[Delivery]>([])
        api.hub.add { events in
            for case .deliveryChanged(let delivery) in events { noted.withLock { $0.append(delivery) } }
        }
        try await api.publish("Before", to: topic)
        #expect(noted.withLock { $0.isEmpty })
        let (sink, _) = await api.subscribe("subscription { onDelivery { messageId userId status reason } }")
        let message = try await api.publish("Heard", to: topic)["id"] ?? .null
        #expect(
            try await sink.take(1).map { $0["data"]?["onDelivery"] }
                == [["messageId": message, "userId": "sub-alice", "status": "SKIPPED", "reason": "NO_DEVICE"]]
        )
        #expect(noted.withLock { $0.map(\.messageID.text) } == [message.stringValue])
        api.feed.stop()
        try await api.publish("After", to: topic)
        #expect(noted.withLock { $0.count } == 1)
    }

    @Test("a repeated create writes no second row")
    func repeated() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for _ in 0..<2 { try await api.publish("Hello", to: topic, with: ["id": "m1"]) }
        #expect(
            try await start(api, of: MessageID("m1"))
                == Start(rows: ["sub-alice skipped NO_DEVICE"], isFanningOut: false)
        )
    }

    @Test("a member who left has no row, and one whose device was retired has one")
    func membersOnly() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let device = try await register(api)
        _ = try await api.store.write { writer throws(StoreError) in
            try writer.retireDevice(device, reason: "Unregistered", registeredBy: Timestamp(milliseconds: .max / 2))
        }
        #expect(
            try await start(api, topic).start == Start(rows: ["sub-alice skipped NO_DEVICE"], isFanningOut: false)
        )
        _ = try await api.run(Self.leave, ["t": .string(topic)])
        #expect(try await start(api, topic).start == Start(rows: [], isFanningOut: false))
        _ = try await api.run(Self.join, ["t": .string(topic), "p": false])
        #expect(
            try await start(api, topic).start == Start(rows: ["sub-alice skipped NO_DEVICE"], isFanningOut: false)
        )
    }

    @Test("a device that is signed out behind the message still has its outcome from the fan-out")
    func signedOutBehind() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let device = try await register(api)
        let (message, begun) = try await start(api, topic)
        #expect(begun == Start(rows: [], isFanningOut: true))
        _ = try await api.run("mutation { unregisterPushToken(token: \"aa11bb22\") { pushTokens } }")
        let owed = try await api.store.write { writer throws(StoreError) in
            let now = api.time.now()
            guard
                let fanout = try writer.claimFanouts(node: "n", now: now, leaseUntil: now, limit: 1, urgentOnly: false)
                    .first
            else {
                return (devices: [Device](), others: [UserID]())
            }
            return (try writer.nextDevices(of: fanout, limit: 9), try writer.membersWithoutDevice(of: fanout))
        }
        #expect(owed.devices.map(\.id) == [device] && owed.devices.first?.isActive == false)
        #expect(owed.others.isEmpty)
        #expect(try await start(api, of: message).isFanningOut)
    }
}
