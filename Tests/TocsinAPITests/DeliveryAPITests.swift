import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Deliveries in the API")
struct DeliveryAPITests {
    /// Topics and messages that everybody signed in may read, and their owners change.
    static let shared = """
        type Topic @model @auth(rules: [{ allow: owner }, { allow: private, operations: [read] }]) {
          id: ID!
          name: String! @index(name: "byName", queryField: "getTopicByName")
          arn: String!
        }
        type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }, { allow: private, operations: [read] }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"], queryField: "getMessageByTopicIdAndCreatedAt")
        }
        """
    private static let alice = APIHarness.identity("alice")
    private static let bob = APIHarness.identity("bob")
    private static let eve = APIHarness.identity("eve")

    /// Alice's message to herself and bob, one phone each; its id.
    private func scene(_ api: APIHarness) async throws -> String {
        let topic = try await api.makeTopic()
        let join = "mutation($t: ID!) { subscribeToTopic(topicId: $t) { push } }"
        _ = try await api.run(join, ["t": .string(topic)], as: Self.bob)
        for (caller, token) in [(Self.alice, "aa11bb22cc33dd44"), (Self.bob, "ee55ff66aa77bb88")] {
            _ = try await register(api, token, as: caller)
        }
        return try await api.publish("Hello", to: topic)["id"]?.stringValue ?? ""
    }

    private func register(
        _ api: APIHarness,
        _ token: String,
        as caller: Identity,
        _ more: String = "platform: \"ios\""
    ) async throws -> JSONValue {
        try await api.run(
            "mutation { registerPushToken(token: \"\(token)\", \(more)) { pushTokens device { id kind active environment } } }",
            as: caller
        )
    }

    /// Writes a delivery of the message to each device of the users, as the outbox does.
    private func deliver(
        _ api: APIHarness,
        _ message: String,
        to users: [Identity],
        _ status: DeliveryStatus = .accepted,
        reason: DeliveryReason? = nil
    ) async throws {
        try await api.store.write { writer throws(StoreError) in
            for user in users {
                for device in try writer.devices(of: user.userID) {
                    let delivery = Delivery(
                        id: DeliveryID("\(message)-\(device.id)"),
                        messageID: MessageID(message),
                        deviceID: device.id,
                        platform: device.platform,
                        status: status,
                        reason: reason,
                        attempts: 1,
                        updatedAt: api.time.now()
                    )
                    try writer.save([delivery])
                    writer.note(.deliveryChanged(delivery))
                }
            }
        }
    }

    @Test("the owner hears each outcome of the message live, whoever else may read it those of their own devices")
    func listening() async throws {
        let api = try await APIHarness(model: Self.shared)
        let message = try await scene(api)
        let document =
            "subscription($m: ID) { onDelivery(messageId: $m) { messageId status reason userId device { token } } }"
        let (sink, _) = await api.subscribe(document, ["m": .string(message)])
        let (all, _) = await api.subscribe("subscription { onDelivery { status } }")
        let absent = await api.subscribe(document, ["m": "no-such-message"]).outcome
        guard case .refused(let errors) = absent else {
            Issue.record("alice may listen to what is not there")
            return
        }
        #expect(String(decoding: errors, as: UTF8.self).contains("\"UNAUTHORIZED\""))
        let (bobs, _) = await api.subscribe("subscription { onDelivery { status } }", as: Self.bob)
        let (bobsOwn, _) = await api.subscribe(document, ["m": .string(message)], as: Self.bob)
        let (evesOwn, _) = await api.subscribe(document, ["m": .string(message)], as: Self.eve)
        try await deliver(api, message, to: [Self.bob], .skipped, reason: "NOTIFICATIONS_OFF")
        try await deliver(api, message, to: [Self.alice])
        let events = try await sink.take(2).compactMap { $0["data"]?["onDelivery"] }
        #expect(events.map { $0["status"] } == ["SKIPPED", "ACCEPTED"])
        #expect(events[0]["reason"] == "NOTIFICATIONS_OFF" && events[0]["messageId"] == .string(message))
        #expect(events.map { $0["userId"] } == ["sub-bob", "sub-alice"])
        #expect(events[1]["device"]?["token"] == "aa11bb22…")
        #expect(try await all.take(2).count == 2)
        // Bob hears of his own messages only: the first event of his is his own message's.
        let bobsTopic = try await api.makeTopic("bobs", as: Self.bob)
        let own = try await api.publish("Own", to: bobsTopic, as: Self.bob)["id"]?.stringValue ?? ""
        try await deliver(api, own, to: [Self.bob], .failed)
        #expect(try await bobs.take(1).first?["data"]?["onDelivery"]?["status"] == "FAILED")
        // Alice's own phone was told of before this one, and only to her.
        try await deliver(api, message, to: [Self.bob], .failed)
        let heard = try await bobsOwn.take(2).compactMap { $0["data"]?["onDelivery"] }
        #expect(heard.map { $0["status"] } == ["SKIPPED", "FAILED"])
        #expect(heard.allSatisfy { $0["userId"] == "sub-bob" && $0["device"]?["token"] == "ee55ff66…" }, "\(heard)")
        api.feed.stop()
        #expect(try await evesOwn.take(1) == [])
    }

    @Test("a subscriber that does not read in time gets the newest state of each delivery, and is told of the end")
    func coalescing() async throws {
        let api = try await APIHarness()
        let message = try await scene(api)
        let sink = BlockedSink()
        let request = GraphQLRequest(query: "subscription { onDelivery { status } }")
        _ = await api.service.subscribe(request, caller: Self.alice, sink: sink)
        try await deliver(api, message, to: [Self.alice], .sending)
        await sink.untilAsked()
        for status in [DeliveryStatus.waiting, .sending, .waiting, .accepted] {
            try await deliver(api, message, to: [Self.alice], status)
        }
        // A message made afterwards: once it is heard of, everything before it was taken in.
        let (other, _) = await api.subscribe("subscription { onDelivery { messageId status } }")
        let last = try await api.publish("Last", to: try await api.makeTopic("other"))["id"]?.stringValue ?? ""
        try await deliver(api, last, to: [Self.alice])
        while try await other.take(1).first?["data"]?["onDelivery"]?["messageId"] != .string(last) {}
        sink.open()
        #expect(await sink.untilSeen(3) == ["SENDING", "ACCEPTED", "ACCEPTED"])
        api.feed.stop()
        #expect(sink.endings == [.shuttingDown])
    }

    @Test("whoever may read a message without being its owner learns what became of their own pushes, and of no others")
    func devicesOfOthers() async throws {
        let api = try await APIHarness(model: Self.shared)
        let message = try await scene(api)
        try await deliver(api, message, to: [Self.alice, Self.bob])
        let query = """
            query($m: ID!) { getMessage(id: $m) {
              deliveries { items { userId device { token } } nextToken } deliverySummary { accepted } } }
            """
        func seen(_ caller: Identity) async throws -> (users: [JSONValue], accepted: JSONValue?) {
            let answer = try await api.run(query, ["m": .string(message)], as: caller)
            let items = answer["data"]?["getMessage"]?["deliveries"]?["items"]?.arrayValue ?? []
            return (
                items.compactMap { $0["userId"] }, answer["data"]?["getMessage"]?["deliverySummary"]?["accepted"]
            )
        }
        let (alice, bob, eve) = (try await seen(Self.alice), try await seen(Self.bob), try await seen(Self.eve))
        #expect(Set(alice.users) == ["sub-alice", "sub-bob"] && alice.accepted == 2)
        #expect(bob.users == ["sub-bob"] && bob.accepted == 1)
        #expect(eve.users.isEmpty && eve.accepted == 0)
    }

    @Test("deliveries come in pages and by status")
    func pages() async throws {
        let api = try await APIHarness(model: Self.shared)
        let message = try await scene(api)
        try await deliver(api, message, to: [Self.alice])
        try await deliver(api, message, to: [Self.bob], .expired)
        let query = """
            query($m: ID!, $s: DeliveryStatus, $n: String) { getMessage(id: $m) {
              deliveries(status: $s, limit: 1, nextToken: $n) { items { status } nextToken }
              deliverySummary { waiting accepted failed ended expired skipped } } }
            """
        func page(_ status: JSONValue, _ next: JSONValue) async throws -> JSONValue {
            let answer = try await api.run(query, ["m": .string(message), "s": status, "n": next])
            return answer["data"]?["getMessage"] ?? answer
        }
        var statuses: [JSONValue] = []
        var next = JSONValue.null
        repeat {
            let deliveries = try await page(.null, next)["deliveries"]
            statuses += (deliveries?["items"]?.arrayValue ?? []).compactMap { $0["status"] }
            next = deliveries?["nextToken"] ?? .null
        } while next != .null && statuses.count < 5
        #expect(Set(statuses) == ["ACCEPTED", "EXPIRED"] && statuses.count == 2)
        let expired = try await page("EXPIRED", .null)
        #expect(expired["deliveries"]?["items"] == [["status": "EXPIRED"]])
        #expect(
            expired["deliverySummary"]
                == ["waiting": 0, "accepted": 1, "failed": 0, "ended": 0, "expired": 1, "skipped": 0]
        )
    }

    private static let explain = """
        query($m: ID!, $u: ID!) { explainDelivery(messageId: $m, userId: $u) {
          userId accepted summary gates { name passed sentence advice device { token } } deliveries { status } } }
        """

    @Test("the owner asks about anybody, others about themselves; everything else is answered as what does not exist")
    func explaining() async throws {
        let api = try await APIHarness(model: Self.shared)
        let message = try await scene(api)
        _ = try await register(api, "0123456789abcdef", as: Self.eve)
        try await deliver(api, message, to: [Self.bob])
        func ask(_ user: String, about id: String? = nil, as caller: Identity) async throws -> JSONValue {
            try await api.run(Self.explain, ["m": .string(id ?? message), "u": .string(user)], as: caller)
        }
        for (user, caller) in [("sub-bob", Self.alice), ("sub-bob", Self.bob), ("bob", Self.bob)] {
            let explanation = try await ask(user, as: caller)["data"]?["explainDelivery"]
            #expect(explanation?["userId"] == "sub-bob" && explanation?["accepted"] == true)
            #expect(explanation?["deliveries"] == [["status": "ACCEPTED"]])
            let names = explanation?["gates"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
            #expect(
                names == [
                    "MESSAGE", "MEMBERSHIP", "TOPIC_PUSH", "NOTIFICATIONS", "DEVICES", "DEVICE_ACTIVE", "DELIVERY",
                ]
            )
        }
        let eve = try await ask("sub-eve", as: Self.alice)["data"]?["explainDelivery"]
        #expect(eve?["summary"]?.stringValue?.contains("not a member") == true)
        // Of somebody who never joined the owner learns nothing: no phone, no switch.
        #expect(eve?["gates"]?.arrayValue?.compactMap { $0["name"] } == ["MESSAGE", "MEMBERSHIP"], "\(eve ?? .null)")
        let absent = try await ask("sub-alice", about: "no-such-message", as: Self.eve)
        #expect(absent["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED")
        for caller in [Self.bob, Self.eve] {
            #expect(try await ask("sub-alice", as: caller)["errors"] == absent["errors"])
        }
        let owner = try await APIHarness()
        let secret = try await owner.publish("Secret", to: try await owner.makeTopic())["id"]?.stringValue ?? ""
        let own = try await owner.run(Self.explain, ["m": .string(secret), "u": "sub-eve"], as: Self.eve)
        #expect(own["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED")
    }

    @Test("a read-only token may ask and listen, a token for publishing may not")
    func scopes() async throws {
        let api = try await APIHarness()
        let message = try await scene(api)
        var reader = Self.alice
        reader.scope = .readOnly
        var publisher = Self.alice
        publisher.scope = .publish(topic: "alerts")
        let variables: JSONObject = ["m": .string(message), "u": "sub-alice"]
        #expect(try await api.run(Self.explain, variables, as: reader)["errors"] == nil)
        #expect(try await api.run(Self.explain, variables, as: publisher)["errors"] != nil)
        let document = "subscription { onDelivery { status } }"
        guard case .stream = await api.subscribe(document, as: reader).outcome,
            case .refused = await api.subscribe(document, as: publisher).outcome
        else {
            Issue.record("a read-only token must be able to listen, one for publishing must not")
            return
        }
    }
}

/// A sink whose reader takes nothing until it is opened.
final class BlockedSink: ResponseSink, Sendable {
    private let collected = CollectingSink()
    private let (asked, asker) = AsyncStream.makeStream(of: Void.self)
    private let (gate, opener) = AsyncStream.makeStream(of: Void.self)

    var endings: [StreamEnd] { collected.endings.withLock { $0 } }

    func next(_ response: SharedResponse) { collected.next(response) }

    func end(_ reason: StreamEnd) { collected.end(reason) }

    func room(for response: SharedResponse) async {
        asker.yield()
        for await _ in gate {}
    }

    func open() { opener.finish() }

    /// Waits until somebody waits for room.
    func untilAsked() async { for await _ in asked { return } }

    /// The statuses of the first responses.
    func untilSeen(_ count: Int) async -> [JSONValue] {
        ((try? await collected.take(count)) ?? []).compactMap { $0["data"]?["onDelivery"]?["status"] }
    }
}
