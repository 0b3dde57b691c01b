import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("A push token's life")
struct DeviceLifeTests {
    private static let alice = APIHarness.identity("alice")
    private static let bob = APIHarness.identity("bob")

    /// Registers; answers the device, or the whole response when it is refused.
    private func register(
        _ api: APIHarness,
        _ token: String,
        _ more: String = "platform: \"ios\"",
        as caller: Identity = DeviceLifeTests.alice
    ) async throws -> JSONValue {
        let answer = try await api.run(
            "mutation { registerPushToken(token: \"\(token)\", \(more)) { device { id kind active environment name } } }",
            as: caller
        )
        return answer["data"]?["registerPushToken"]?["device"] ?? answer
    }

    private func devices(_ api: APIHarness, of caller: Identity) async throws -> [Device] {
        try await api.store.read { reader throws(StoreError) in try reader.devices(of: caller.userID) }
    }

    /// A message with a waiting delivery to a device.
    private func wait(_ api: APIHarness, for device: String) async throws -> MessageID {
        let message = try await api.publish("Hello", to: try await api.makeTopic())["id"]?.stringValue ?? ""
        let delivery = Delivery(
            id: DeliveryID("x"),
            messageID: MessageID(message),
            deviceID: DeviceID(device),
            platform: .ios,
            status: .waiting,
            nextAttemptAt: api.time.now(),
            updatedAt: api.time.now()
        )
        try await api.store.write { writer throws(StoreError) in try writer.save([delivery]) }
        return MessageID(message)
    }

    private func rows(_ api: APIHarness, _ message: MessageID) async throws -> [String] {
        try await api.store.read { reader throws(StoreError) in
            try reader.deliveries(of: message, status: nil, after: nil, limit: 9).map {
                "\($0.status.rawValue) \($0.reason ?? "-")"
            }
        }
    }

    @Test("registering again is the same device, also in another spelling; what was not said again stays")
    func idempotent() async throws {
        let api = try await APIHarness()
        let first = try await register(
            api,
            "aa11bb22",
            "platform: \"ios\", environment: \"production\", name: \"Phone\""
        )
        let second = try await register(api, "AA11BB22")
        #expect(first == second, "\(second)")
        #expect(try await devices(api, of: Self.alice).count == 1)
    }

    @Test("a token that another user registers moves at once, and what waited for the former owner ends")
    func moves() async throws {
        let api = try await APIHarness()
        let id = try await register(api, "aa11bb22")["id"]?.stringValue ?? ""
        let message = try await wait(api, for: id)
        let moved = try await register(api, "aa11bb22", as: Self.bob)
        #expect(moved["id"] != nil && moved["id"] != .string(id))
        #expect(try await devices(api, of: Self.alice).isEmpty)
        #expect(try await devices(api, of: Self.bob).map(\.token) == ["aa11bb22"])
        #expect(try await rows(api, message) == ["ended TOKEN_MOVED"])
    }

    @Test(
        "a token that another user registers moves whatever the app is called, for names of apps are not unique",
        arguments: [("", "com.example.app"), ("com.example.app", ""), ("shop", "com.example.shop")]
    )
    func movesBetweenNames(former: String, name: String) async throws {
        let api = try await APIHarness()
        let id = try await register(api, "aa11bb22", app(former))["id"]?.stringValue ?? ""
        let message = try await wait(api, for: id)
        _ = try await register(api, "aa11bb22", app(name), as: Self.bob)
        #expect(try await devices(api, of: Self.alice).isEmpty)
        #expect(try await devices(api, of: Self.bob).map(\.appID) == [name])
        #expect(try await rows(api, message) == ["ended TOKEN_MOVED"])
    }

    @Test("an app that begins to say its name keeps its device; two named apps are two devices")
    func namesOneself() async throws {
        let api = try await APIHarness()
        let unnamed = try await register(api, "aa11bb22")
        let named = try await register(api, "aa11bb22", app("com.example.app"))
        #expect(unnamed["id"] != nil && named["id"] == unnamed["id"])
        #expect(try await devices(api, of: Self.alice).map(\.appID) == ["com.example.app"])
        _ = try await register(api, "aa11bb22", app("com.example.other"))
        #expect(try await devices(api, of: Self.alice).count == 2)
    }

    private func app(_ id: String) -> String { "platform: \"ios\"" + (id.isEmpty ? "" : ", appId: \"\(id)\"") }

    @Test("a phone registered before a message is active for it, also when the clock was set back between them")
    func clockSetBack() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        _ = try await register(api, "aa11bb22")
        api.time.advance(seconds: -3600)
        let message = MessageID(try await api.publish("Hello", to: topic)["id"]?.stringValue ?? "")
        let reached = try await api.store.write { writer throws(StoreError) in
            let now = Timestamp(milliseconds: .max / 2)
            let fanouts = try writer.claimFanouts(node: "n", now: now, leaseUntil: now, limit: 5, urgentOnly: false)
            #expect(fanouts.map(\.messageID) == [message])
            return try fanouts.first.map { fanout throws(StoreError) in try writer.nextDevices(of: fanout, limit: 5) }
        }
        #expect(reached?.map(\.token) == ["aa11bb22"])
    }

    @Test("a retired device comes back by registering, and a 410 from before that does not end it again")
    func revives() async throws {
        let api = try await APIHarness()
        let id = DeviceID(try await register(api, "aa11bb22")["id"]?.stringValue ?? "")
        let answeredAt = api.time.now()
        let retired = try await api.store.write { writer throws(StoreError) in
            try writer.retireDevice(id, reason: "Unregistered", registeredBy: answeredAt)
        }
        #expect(retired)
        #expect(try await devices(api, of: Self.alice).map(\.isActive) == [false])
        #expect(try await register(api, "aa11bb22")["active"] == true)
        let again = try await api.store.write { writer throws(StoreError) in
            try writer.retireDevice(id, reason: "Unregistered", registeredBy: answeredAt)
        }
        #expect(!again)
        #expect(try await devices(api, of: Self.alice).map(\.isActive) == [true])
    }

    @Test("sandbox and production installations of one app stand side by side")
    func sides() async throws {
        let api = try await APIHarness()
        let sandbox = try await register(api, "aa11", "platform: \"ios\", environment: \"sandbox\"")
        let production = try await register(api, "bb22", "platform: \"ios\", environment: \"production\"")
        #expect(sandbox["id"] != production["id"])
        #expect(try await devices(api, of: Self.alice).map(\.environment).count { $0 == .sandbox } == 1)
    }

    @Test("registering by installation id takes the place of the token's row, whoever had it, and the other way round")
    func installations() async throws {
        let api = try await APIHarness()
        let android = "platform: \"android\""
        let token = try await register(api, "inst1:APA91b-one", android + ", name: \"Pixel\"")
        let byID = try await register(api, "inst1", android + ", kind: \"fid\"")
        #expect(byID["id"] == token["id"] && byID["kind"] == "fid" && byID["name"] == "Pixel")
        let back = try await register(api, "inst1:APA91b-two", android)
        #expect(back["id"] == token["id"] && back["kind"] == "token")
        let taken = try await register(api, "inst1", android + ", kind: \"fid\"", as: Self.bob)
        #expect(taken["id"] != token["id"])
        #expect(try await devices(api, of: Self.alice).isEmpty)
        #expect(try await devices(api, of: Self.bob).map(\.token) == ["inst1"])
        let other = try await register(api, "inst2:APA91b", android, as: Self.bob)
        #expect(other["id"] != taken["id"])
        #expect(try await devices(api, of: Self.bob).count == 2)
    }

    @Test(
        "an iPhone's token of Firebase keeps its letters, and is one phone with its installation id and its older row"
    )
    func firebaseOnIPhones() async throws {
        let api = try await APIHarness()
        let old = try await register(api, "Inst1:APA91b-One", "platform: \"android\"")
        let ios = "platform: \"ios\""
        let token = try await register(api, "Inst1:APA91b-One", ios + ", environment: \"sandbox\"")
        #expect(token["id"] != nil && token["id"] == old["id"] && token["environment"] == .null, "\(token)")
        let mine = try await devices(api, of: Self.alice)
        #expect(mine.map(\.token) == ["Inst1:APA91b-One"] && mine.map(\.platform) == [.ios])
        #expect(mine.map(\.isNamedByFirebase) == [true])
        let byID = try await register(api, "Inst1", ios + ", kind: \"fid\"")
        #expect(byID["id"] == token["id"] && byID["kind"] == "fid")
        let apple = try await register(api, "AA11BB22", ios)
        #expect(apple["id"] != byID["id"])
        #expect(try await devices(api, of: Self.alice).count { $0.isNamedByFirebase } == 1)
    }

    @Test(
        "an imported iPhone's token of Firebase keeps its letters, Apple's has none but small ones, and both are known"
    )
    func imported() async throws {
        let api = try await APIHarness()
        let service = DeviceService(environment: api.environment)
        let rows = ["Inst1:APA91b-One", "AA11BB22"].map {
            DeviceService.Imported(user: "sub-alice", registration: .init(token: $0, platform: .ios))
        }
        #expect(try await service.take(rows, isDry: false) == [.added, .added])
        #expect(try await service.take(rows, isDry: false) == [.known, .known])
        let found = try await devices(api, of: Self.alice)
        #expect(Set(found.map(\.token)) == ["Inst1:APA91b-One", "aa11bb22"])
        let again = try await register(api, "Inst1:APA91b-One")
        #expect(again["id"]?.stringValue == found.first(where: \.isNamedByFirebase)?.id.text, "\(again)")
        #expect(try await devices(api, of: Self.alice).count == 2)
    }

    @Test(
        "a kind that does not fit is refused with what to do",
        arguments: [
            ("aa11", "platform: \"web\", kind: \"fid\"", "is for android and ios"),
            ("a:b", "platform: \"ios\", kind: \"fid\"", "no Firebase installation id"),
            ("MDEyMzQ1", "platform: \"ios\"", "Firebase's registration token"),
            ("6FA459EA-EE8A-3CA4-894E-DB77E160355E", "platform: \"ios\"", "in hexadecimal"),
            ("a:b", "platform: \"android\", kind: \"fid\"", "no Firebase installation id"),
            ("abc", "platform: \"android\", kind: \"uuid\"", "kind must be token or fid"),
        ]
    )
    func badKinds(token: String, more: String, words: String) async throws {
        let api = try await APIHarness()
        let answer = try await register(api, token, more)
        #expect(answer["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT")
        #expect(answer["errors"]?[0]?["message"]?.stringValue?.contains(words) == true, "\(answer)")
    }

    @Test("E1: a device that is bound to a token ends with it, and what waits; one that is not bound stays")
    func bound() async throws {
        let api = try await APIHarness()
        let accounts = AccountService(environment: api.environment)
        let account = try await accounts.add(name: "ada", passwordHash: nil)
        let token = IssuedToken(
            id: TokenID("t1"),
            userID: account.id,
            scope: .full,
            createdAt: api.time.now(),
            expiresAt: api.time.now().adding(seconds: 3600)
        )
        try await api.store.write { writer throws(StoreError) in try writer.save(token) }
        let ada = Identity(userID: account.id, username: "ada", tokenID: token.id, expiresAt: token.expiresAt)
        let bound = try await register(api, "aa11bb22", "platform: \"ios\", bindToSignIn: true", as: ada)
        let free = try await register(api, "cc33dd44", as: ada)
        let ends = "{ devices { id active signedInUntil disabledReason } }"
        let before = try await api.run(ends, as: ada)["data"]?["devices"]?.arrayValue ?? []
        #expect(
            before.map { $0["signedInUntil"] } == [.string(token.expiresAt.iso8601), .null]
                || before.map { $0["signedInUntil"] } == [.null, .string(token.expiresAt.iso8601)],
            "\(before)"
        )
        let message = try await wait(api, for: bound["id"]?.stringValue ?? "")
        try await accounts.revoke(token.id)
        // Its publisher has no device.
        #expect(try await rows(api, message).sorted() == ["ended ACCESS_ENDED", "skipped NO_DEVICE"])
        let revoked = try await register(api, "ee55ff66", "platform: \"ios\", bindToSignIn: true", as: ada)
        #expect(revoked["errors"]?[0]?["message"]?.stringValue?.contains("was revoked") == true, "\(revoked)")
        let after = try await devices(api, of: ada)
        #expect(after.filter(\.isActive).map(\.id.text) == [free["id"]?.stringValue])
        #expect(after.first { !$0.isActive }?.disabledReason == "ACCESS_ENDED")
        // Another sign-in brings it back, bound to nothing unless that is asked for.
        let later = Identity(userID: account.id, username: "ada")
        let again = try await register(api, "aa11bb22", as: later)
        #expect(again["id"] == bound["id"] && again["active"] == true)
        #expect(try await devices(api, of: ada).allSatisfy { $0.binding == nil })
        let endless = try await register(api, "aa11bb22", "platform: \"ios\", bindToSignIn: true", as: later)
        #expect(endless["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT", "\(endless)")
    }

    @Test("E1: somebody else's token binds until its end")
    func boundToEnd() async throws {
        let api = try await APIHarness()
        let end = api.time.now().adding(seconds: 60)
        let guest = Identity(userID: UserID("sub-guest"), username: "guest", expiresAt: end)
        _ = try await register(api, "aa11bb22", "platform: \"ios\", bindToSignIn: true", as: guest)
        let device = try await devices(api, of: guest).first
        #expect(device?.signedInUntil == end && device?.binding == .end(end))
        #expect(device?.isSignedOut(at: end) == true && device?.isSignedOut(at: end.adding(seconds: -1)) == false)
    }

    @Test("signing out by token and device id removes both rows, ends what waits, and is told to the outbox")
    func signsOut() async throws {
        let api = try await APIHarness()
        let ended = Told()
        api.hub.add { events in
            for case .deviceEnded(let id, let reason) in events { ended.add("\(id) \(reason)") }
        }
        let first = try await register(api, "aa11bb22")["id"]?.stringValue ?? ""
        let second = try await register(api, "cc33dd44")["id"]?.stringValue ?? ""
        let foreign = try await register(api, "ee55ff66", as: Self.bob)["id"]?.stringValue ?? ""
        let message = try await wait(api, for: second)
        let document = "mutation($t: String!, $d: ID) { unregisterPushToken(token: $t, deviceId: $d) { pushTokens } }"
        let answer = try await api.run(document, ["t": "AA11BB22", "d": .string(second)])
        #expect(answer["data"]?["unregisterPushToken"]?["pushTokens"] == [])
        #expect(try await rows(api, message) == ["ended UNREGISTERED"])
        #expect(ended.all == ["\(first) UNREGISTERED", "\(second) UNREGISTERED"])
        _ = try await api.run(document, ["t": "ee55ff66", "d": .string(foreign)])
        #expect(try await devices(api, of: Self.bob).count == 1)
    }

    @Test("muting a topic skips what waits and keeps the membership, leaving ends it, and the outbox is told of both")
    func topicPushes() async throws {
        let api = try await APIHarness()
        let told = Told()
        api.hub.add { events in
            for case .pushesUnwanted(let user, let topic, let reason) in events {
                told.add("\(user) \(topic.map { "\($0)" } ?? "all") \(reason.rawValue)")
            }
        }
        let id = try await register(api, "aa11bb22")["id"]?.stringValue ?? ""
        let (muted, left) = (try await wait(api, for: id), try await wait(api, for: id))
        func topic(_ message: MessageID) async throws -> JSONValue {
            try await api.run("{ getMessage(id: \"\(message)\") { topicId } }")["data"]?["getMessage"]?["topicId"]
                ?? .null
        }
        let mute = "mutation($t: ID!) { subscribeToTopic(topicId: $t, push: false) { push } }"
        let answer = try await api.run(mute, ["t": try await topic(muted)])
        #expect(answer["data"]?["subscribeToTopic"]?["push"] == false)
        #expect(try await rows(api, muted) == ["skipped TOPIC_MUTED"])
        #expect(try await rows(api, left) == ["waiting -"])
        _ = try await api.run(
            "mutation($t: ID!) { unsubscribeFromTopic(topicId: $t) { push } }",
            ["t": try await topic(left)]
        )
        #expect(try await rows(api, left) == ["ended LEFT_TOPIC"])
        // Wanting them again is nothing that anybody on the way must know.
        _ = try await api.run(mute.replacing("false", with: "true"), ["t": try await topic(muted)])
        let names = [try await topic(muted), try await topic(left)].map { $0.stringValue ?? "" }
        #expect(
            told.all == ["\(Self.alice.userID) \(names[0]) TOPIC_MUTED", "\(Self.alice.userID) \(names[1]) LEFT_TOPIC"]
        )
    }
}

/// What the hub told of devices and users that get no more.
private final class Told: Sendable {
    private let seen = Mutex<Set<String>>([])

    var all: Set<String> { seen.withLock { $0 } }

    func add(_ words: String) { seen.withLock { _ = $0.insert(words) } }
}
