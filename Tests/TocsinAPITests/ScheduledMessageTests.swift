import GraphQL
import JSON
import TestDatabases
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Scheduled messages")
struct ScheduledMessageTests {
    private static let fields =
        "id name topicId input dueAt cron timeZone enabled disabledReason lastMessageId lastAt missed nextAt owner"
    private static let create = """
        mutation($i: CreateScheduledMessageInput!) { createScheduledMessage(input: $i) { \(fields) } }
        """
    private static let bins: JSONValue = "{\"title\": \"Bins out\", \"body\": \"\", \"type\": 0, \"priority\": 4}"

    private static func runner(_ api: APIHarness) -> TimerRunner {
        TimerRunner(
            environment: api.environment,
            effects: [ScheduledMessageEffect(api.services.scheduledMessages) { _ in }]
        ) { timer, error in Issue.record("\(timer.subject): \(error)") }
    }

    private static func schedule(
        _ api: APIHarness,
        _ input: JSONObject,
        as caller: Identity = APIHarness.identity("alice")
    ) async throws -> JSONValue {
        let response = try await api.run(create, ["i": .object(input)], as: caller)
        guard let made = response["data"]?["createScheduledMessage"], !made.isNull else { return response }
        return made
    }

    private static func get(_ api: APIHarness, _ id: JSONValue?) async throws -> JSONValue {
        let query = "query($id: ID!) { getScheduledMessage(id: $id) { \(fields) } }"
        return try await api.run(query, ["id": id ?? .null])["data"]?["getScheduledMessage"] ?? .null
    }

    private static func titles(_ api: APIHarness, _ topic: String) async throws -> [String] {
        let query =
            "query($id: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $id, limit: 1000) { items { key } } }"
        let found = try await api.run(query, ["id": .string(topic)])["data"]?["getMessageByTopicIdAndCreatedAt"]?[
            "items"
        ]
        return (found?.arrayValue ?? []).compactMap { $0["key"]?.stringValue }
    }

    @Test("another name at the moment when it is due costs no message", arguments: [true, false])
    func renamedWhenDue(isOneOff: Bool) async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let dueAt = api.time.now().adding(seconds: 60).iso8601
        let plan: JSONObject = isOneOff ? ["dueAt": .string(dueAt)] : ["cron": "* * * * *"]
        var input: JSONObject = ["topicId": .string(topic), "input": Self.bins]
        for member in plan { input[member.key] = member.value }
        let made = try await Self.schedule(api, input)
        api.time.advance(seconds: 61)
        let renamed = try await api.run(
            "mutation($i: UpdateScheduledMessageInput!) { updateScheduledMessage(input: $i) { nextAt } }",
            ["i": ["id": made["id"] ?? .null, "name": "other"]]
        )
        #expect(renamed["data"]?["updateScheduledMessage"]?["nextAt"] == made["nextAt"], "\(renamed)")
        #expect(try await Self.runner(api).fireDue() == 1)
        #expect(try await Self.titles(api, topic).count == 1)
    }

    @Test("an id that others could take, an end before the message, and the topic of direct pushes are refused")
    func wrongPlans() async throws {
        let api = try await APIHarness(clientIDs: .uuid)
        let topic = try await api.makeTopic()
        let push = try await api.run(
            "mutation { sendPush(tokens: [\"nobodys\"], title: \"t\") { message { topicId } } }"
        )["data"]?["sendPush"]?["message"]?["topicId"]
        let ended: JSONValue =
            "{\"title\": \"t\", \"body\": \"\", \"type\": 0, \"expiresAt\": \"2020-01-01T00:00:00Z\"}"
        let good: JSONObject = ["topicId": .string(topic), "input": Self.bins, "cron": "0 7 * * *"]
        let cases: [(String, JSONValue?, String)] = [
            ("id", "task-reminder", "id must be a UUID or a ULID"),
            ("input", ended, "expiresAt in input must lie behind"),
            ("topicId", push, "topicId is the topic of direct pushes"),
        ]
        for (name, value, words) in cases {
            var input = good
            input[name] = value
            let answer = try await Self.schedule(api, input)
            #expect(answer["errors"]?[0]?["message"]?.stringValue?.contains(words) == true, "\(answer)")
        }
    }

    @Test("a page of schedules with much text ends early, and the next goes on")
    func largePages() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let text = String(repeating: "x", count: 60_000)
        let large: JSONValue = .string("{\"title\": \"t\", \"type\": 0, \"body\": \"\(text)\"}")
        for _ in 1...60 {
            _ = try await Self.schedule(api, ["topicId": .string(topic), "input": large, "cron": "0 7 * * *"])
        }
        let query = "query($n: String) { listScheduledMessages(limit: 1000, nextToken: $n) { items { id } nextToken } }"
        var (ids, pages, next) = (Set<String>(), 0, JSONValue.null)
        repeat {
            let page = try await api.run(query, ["n": next])["data"]?["listScheduledMessages"]
            let items = page?["items"]?.arrayValue ?? []
            #expect(items.count <= 50, "three megabytes are no page")
            ids.formUnion(items.compactMap { $0["id"]?.stringValue })
            next = page?["nextToken"] ?? .null
            pages += 1
        } while next != .null && pages < 10
        #expect(ids.count == 60 && pages == 2)
    }

    @Test("a one-off is made once, at its time and not before, with a key of its own")
    func once() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let dueAt = api.time.now().adding(seconds: 60)
        let made = try await Self.schedule(
            api,
            ["topicId": .string(topic), "input": Self.bins, "dueAt": .string(dueAt.iso8601), "name": "bins"]
        )
        #expect(made["nextAt"]?.stringValue == dueAt.iso8601, "\(made)")
        let runner = Self.runner(api)
        #expect(try await runner.fireDue() == 0)
        api.time.advance(seconds: 61)
        #expect(try await runner.fireDue() == 1)
        #expect(try await runner.fireDue() == 0)
        let keys = try await Self.titles(api, topic)
        #expect(keys == ["scheduled/\(made["id"]?.stringValue ?? "")/\(dueAt.milliseconds / 1000)"])
        let after = try await Self.get(api, made["id"])
        #expect(after["enabled"] == false)
        #expect(after["disabledReason"] == "DONE")
        #expect(after["nextAt"] == .null)
        #expect(after["lastMessageId"]?.stringValue != nil)
    }

    @Test("a recurring one goes by the clocks of its zone, and says how many times passed while nothing ran")
    func again() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let made = try await Self.schedule(
            api,
            [
                "topicId": .string(topic), "input": Self.bins, "cron": "0 19 * * *", "timeZone": "Europe/Berlin",
            ]
        )
        // The harness begins on 1 July 2026 at 12:00 UTC.
        #expect(made["nextAt"] == "2026-07-01T17:00:00.000Z", "\(made)")
        let runner = Self.runner(api)
        api.time.advance(seconds: 3 * 86_400)
        #expect(try await runner.fireDue() == 1)
        #expect(try await Self.titles(api, topic).count == 1)
        let after = try await Self.get(api, made["id"])
        #expect(after["missed"] == 2)
        #expect(after["lastAt"] == "2026-07-01T17:00:00.000Z")
        #expect(after["nextAt"] == "2026-07-04T17:00:00.000Z")
        #expect(after["enabled"] == true)
    }

    @Test(
        "what cannot come is refused in words that say what to write",
        arguments: [
            (["cron": "0 9 * * *", "timeZone": "Mars/Base"], "\"Mars/Base\" is no time zone"),
            (["cron": "0 9 * * *", "timeZone": "../../etc/passwd"], "is no time zone"),
            (["cron": "0 25 * * *"], "\"25\" in the field of the hour"), (["cron": "0 0 30 2 *"], "never comes"),
            (["cron": "0 9 * * *", "dueAt": "2026-07-02T00:00:00Z"], "either dueAt, for once, or cron"),
            ([:], "either dueAt, for once, or cron"), (["dueAt": "2026-07-01T12:00:05Z"], "10 seconds to 365 days"),
            (["dueAt": "0000-01-01T00:00:00Z"], "lies in the past: it is 0000-01-01T00:00:00.000Z, and now"),
            (["dueAt": "0001-01-01T00:00:00+14:00"], "lies in the past: it is 0000-12-31T10:00:00.000Z, and now"),
            (["dueAt": "2026-06-30T12:00:05Z"], "lies in the past: it is 2026-06-30"),
            (["cron": "RRULE:FREQ=DAILY"], "RRULE needs BYHOUR"),
            (["cron": "RRULE:FREQ=DAILY;BYHOUR=9;UNTIL=20200101"], "does not come any more"),
            (["dueAt": "2028-07-01T12:00:05Z"], "10 seconds to 365 days"),
            (["dueAt": "2026-07-02T00:00:00"], "needs an offset"),
            (["dueAt": "2026-07-02T00:00:00Z", "timeZone": "UTC"], "timeZone goes with cron"),
            (["cron": "0 9 * * *", "until": "2026-07-01T13:00:00Z"], "until lies before the first time"),
            (["cron": "0 9 * * *", "input": "{\"title\": 3, \"body\": \"\", \"type\": 0}"], "input.title"),
            (["cron": "0 9 * * *", "input": "[]"], "must be JSON of an object"),
            (
                ["cron": "0 9 * * *", "input": "{\"title\": \"t\", \"body\": \"\", \"type\": 0, \"colour\": 3}"],
                "colour"
            ),
            (["cron": "0 9 * * *", "input": "{\"key\": \"k\"}"], "input.key must be left out"),
            (
                ["cron": "0 9 * * *", "webhook": "nobody"],
                "takes no events of your schedules. The operator names who may use one, in its schedule-users."
            ),
        ] as [(JSONObject, String)]
    )
    func refused(input: JSONObject, expected: String) async throws {
        let api = try await APIHarness()
        var whole: JSONObject = ["topicId": .string(try await api.makeTopic()), "input": Self.bins]
        for member in input { whole[member.key] = member.value }
        let response = try await Self.schedule(api, whole)
        let error = response["errors"]?[0]
        #expect(error?["message"]?.stringValue?.contains(expected) == true, "\(response)")
        #expect(error?["extensions"]?["code"] == "BAD_USER_INPUT", "\(response)")
    }

    @Test("an RRULE goes by the clocks of its zone, and ends when it has come as often as COUNT says")
    func rule() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let rule = "RRULE:FREQ=DAILY;BYHOUR=19;BYMINUTE=30;COUNT=2"
        let made = try await Self.schedule(
            api,
            [
                "topicId": .string(topic), "input": Self.bins, "cron": .string(rule), "timeZone": "Europe/Berlin",
            ]
        )
        #expect(made["nextAt"] == "2026-07-01T17:30:00.000Z", "\(made)")
        for _ in 1...3 {
            api.time.advance(seconds: 86_400)
            _ = try await Self.runner(api).fireDue()
        }
        #expect(try await Self.titles(api, topic).count == 2)
        let after = try await Self.get(api, made["id"])
        #expect(after["disabledReason"] == "DONE" && after["nextAt"] == .null, "\(after)")
        // A new line counts from when it is written.
        let input: JSONObject = ["id": made["id"] ?? .null, "cron": .string(rule + " "), "enabled": true]
        let again = try await api.run(
            "mutation($i: UpdateScheduledMessageInput!) { updateScheduledMessage(input: $i) { nextAt } }",
            ["i": .object(input)]
        )
        #expect(again["data"]?["updateScheduledMessage"]?["nextAt"] == "2026-07-04T17:30:00.000Z", "\(again)")
    }

    @Test("a topic that the caller may not publish to is refused at once")
    func foreignTopic() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic(as: APIHarness.identity("bob"))
        let response = try await Self.schedule(
            api,
            ["topicId": .string(topic), "input": Self.bins, "cron": "0 9 * * *"]
        )
        #expect(response["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(response)")
    }

    @Test("one whose topic is gone, or whose owner is disabled, is ended and says why")
    func ended() async throws {
        for (makesTopicGone, reason) in [(true, "UNAUTHORIZED"), (false, "OWNER_DISABLED")] {
            let api = try await APIHarness()
            let topic = try await api.makeTopic()
            let made = try await Self.schedule(
                api,
                ["topicId": .string(topic), "input": Self.bins, "cron": "0 19 * * *"]
            )
            if makesTopicGone {
                _ = try await api.run(
                    "mutation($id: ID!) { deleteTopic(input: {id: $id, _version: 1}) { id } }",
                    ["id": .string(topic)]
                )
            } else {
                let alice = APIHarness.identity("alice")
                let account = Account(
                    id: alice.userID,
                    name: alice.username,
                    passwordHash: nil,
                    isDisabled: true,
                    createdAt: api.time.now()
                )
                try await api.store.write { writer throws(StoreError) in try writer.save(account) }
            }
            api.time.advance(seconds: 86_400)
            _ = try await Self.runner(api).fireDue()
            let after = try await Self.get(api, made["id"])
            #expect(after["enabled"] == false)
            #expect(after["disabledReason"]?.stringValue?.hasPrefix(reason) == true, "\(after)")
            #expect(after["nextAt"] == .null)
        }
    }

    @Test("a change moves the next time, a pause stops it, and a removal ends it")
    func changes() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let made = try await Self.schedule(
            api,
            ["topicId": .string(topic), "input": Self.bins, "cron": "0 19 * * *"]
        )
        let update = """
            mutation($i: UpdateScheduledMessageInput!) { updateScheduledMessage(input: $i) { \(Self.fields) } }
            """
        func updated(_ input: JSONObject) async throws -> JSONValue? {
            var whole = input
            whole["id"] = made["id"] ?? .null
            return try await api.run(update, ["i": .object(whole)])["data"]?["updateScheduledMessage"]
        }
        #expect(try await updated(["cron": "0 20 * * *"])?["nextAt"] == "2026-07-01T20:00:00.000Z")
        #expect(try await updated(["enabled": false])?["nextAt"] == .null)
        api.time.advance(seconds: 86_400)
        #expect(try await Self.runner(api).fireDue() == 0)
        #expect(try await updated(["enabled": true])?["nextAt"] == "2026-07-02T20:00:00.000Z")
        let remove = "mutation($id: ID!) { deleteScheduledMessage(input: {id: $id}) { id } }"
        _ = try await api.run(remove, ["id": made["id"] ?? .null])
        api.time.advance(seconds: 86_400)
        #expect(try await Self.runner(api).fireDue() == 0)
        #expect(try await Self.titles(api, topic).isEmpty)
    }

    @Test("one that no longer holds can be renamed and paused, and goes on only when it holds again")
    func gone() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let made = try await Self.schedule(
            api,
            ["topicId": .string(topic), "input": Self.bins, "cron": "0 19 * * *"]
        )
        let remove = "mutation($id: ID!) { deleteTopic(input: {id: $id, _version: 1}) { id } }"
        _ = try await api.run(remove, ["id": .string(topic)])
        func updated(_ input: JSONObject) async throws -> JSONValue {
            var whole = input
            whole["id"] = made["id"] ?? .null
            let update = """
                mutation($i: UpdateScheduledMessageInput!) { updateScheduledMessage(input: $i) { \(Self.fields) } }
                """
            return try await api.run(update, ["i": .object(whole)])
        }
        let paused = try await updated(["enabled": false])["data"]?["updateScheduledMessage"]
        #expect(paused?["enabled"] == false)
        #expect(try await updated(["name": "old"])["data"]?["updateScheduledMessage"]?["name"] == "old")
        for input: JSONObject in [["enabled": true], ["input": "{\"title\": \"t\", \"body\": \"\", \"type\": 0}"]] {
            #expect(try await updated(input)["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED")
        }
    }

    @Test("a time at which the owner's storage is full is missed: the next one is waited for, and a one-off ends")
    func full() async throws {
        let api = try await APIHarness(storageBytes: 20_000)
        let topic = try await api.makeTopic()
        let again = try await Self.schedule(
            api,
            ["topicId": .string(topic), "input": Self.bins, "cron": "0 19 * * *"]
        )
        let dueAt = JSONValue.string(api.time.now().adding(seconds: 3600).iso8601)
        let once = try await Self.schedule(api, ["topicId": .string(topic), "input": Self.bins, "dueAt": dueAt])
        // Beyond the bound by itself; it is refused nothing until it has been measured.
        let body: JSONObject = ["body": .string(String(repeating: "x", count: 25_000))]
        #expect(try await api.publish("m", to: topic, with: body)["errors"] == nil)
        var count = 0
        while count < 5000, try await api.publish("m", to: topic)["errors"] == nil { count += 1 }
        #expect(count < 5000)
        api.time.advance(seconds: 86_400)
        let runner = Self.runner(api)
        #expect(try await runner.fireDue() == 2)
        #expect(try await runner.fireDue() == 0)
        let (waiting, ended) = (try await Self.get(api, again["id"]), try await Self.get(api, once["id"]))
        #expect(waiting["enabled"] == true)
        #expect(waiting["nextAt"] == "2026-07-02T19:00:00.000Z")
        #expect(waiting["missed"] == 1)
        #expect(waiting["lastMessageId"] == .null)
        #expect(ended["enabled"] == false)
        #expect(ended["disabledReason"]?.stringValue?.hasPrefix("LIMIT: You have stored") == true, "\(ended)")
    }

    @Test("an id that two people use at once is one person's; the other is told of a conflict")
    func oneID() async throws {
        let api = try await APIHarness()
        let bob = APIHarness.identity("bob")
        let (hers, his) = (try await api.makeTopic(), try await api.makeTopic(as: bob))
        func input(_ topic: String) -> JSONObject {
            ["id": "same", "topicId": .string(topic), "input": Self.bins, "cron": "0 19 * * *"]
        }
        async let first = Self.schedule(api, input(hers))
        async let second = Self.schedule(api, input(his), as: bob)
        let answers = try await [first, second]
        #expect(answers.filter { $0["errors"]?[0]?["extensions"]?["code"] == "CONFLICT" }.count == 1, "\(answers)")
        let stored = try await api.store.write { writer throws(StoreError) -> ScheduledMessage? in
            guard var message = try writer.scheduledMessage("same") else { return nil }
            let owner = message.owner
            message.owner.userID = UserID("mallory")
            let isInserted = try writer.insert(message)
            try writer.save(message)
            let after = try writer.scheduledMessage("same")
            return !isInserted && after?.owner == owner ? after : nil
        }
        #expect(stored != nil, "neither insert nor save touches another owner's row")
    }

    @Test("somebody else's is not seen, not changed and not removed")
    func foreign() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let made = try await Self.schedule(
            api,
            ["topicId": .string(topic), "input": Self.bins, "cron": "0 19 * * *"]
        )
        let bob = APIHarness.identity("bob")
        let id = made["id"] ?? .null
        let seen = try await api.run(
            "query($id: ID!) { getScheduledMessage(id: $id) { id } listScheduledMessages { items { id } } }",
            ["id": id],
            as: bob
        )
        #expect(seen["data"] == ["getScheduledMessage": nil, "listScheduledMessages": ["items": []]])
        for mutation in [
            "mutation($id: ID!) { deleteScheduledMessage(input: {id: $id}) { id } }",
            "mutation($id: ID!) { updateScheduledMessage(input: {id: $id, enabled: false}) { id } }",
        ] {
            let response = try await api.run(mutation, ["id": id], as: bob)
            #expect(response["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(response)")
        }
        let listed = try await api.run("{ listScheduledMessages(limit: 1) { items { id } nextToken } }")
        #expect(listed["data"]?["listScheduledMessages"]?["items"] == [["id": id]])
    }

    @Test("two nodes that look at the same time make each message once")
    func twoNodes() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for _ in 0..<60 {
            _ = try await Self.schedule(
                api,
                ["topicId": .string(topic), "input": Self.bins, "cron": "0 19 * * *"]
            )
        }
        api.time.advance(seconds: 86_400)
        let (one, other) = (Self.runner(api), Self.runner(api))
        async let first = one.fireDue()
        async let second = other.fireDue()
        _ = try await (first, second)
        let keys = try await Self.titles(api, topic)
        #expect(keys.count == 60)
        #expect(Set(keys).count == 60)
    }

    @Test("an effect that cannot be written stays due, after 1, 2, 4 … 60 seconds, and says why")
    func failing() async throws {
        let api = try await APIHarness()
        let effect = FailingEffect()
        let timer = TimerEntry(kind: .daily, subject: "s", dueAt: api.time.now())
        try await api.store.write { writer throws(StoreError) in try writer.set(timer) }
        let runner = TimerRunner(environment: api.environment, effects: [effect]) { _, _ in }
        var pauses: [Int64] = []
        for _ in 0..<8 {
            #expect(try await runner.fireDue() == 1)
            let stored = try await api.store.read { reader throws(StoreError) in try reader.timer(.daily, of: "s") }
            let pause = (stored?.dueAt.milliseconds ?? 0) - (stored?.failedAt?.milliseconds ?? 0)
            pauses.append(pause / 1000)
            #expect(stored?.error?.contains("no luck") == true)
            #expect(try await runner.fireDue() == 0)
            api.time.advance(seconds: Double(pause) / 1000 + 1)
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
    }
}

/// Fails always.
private struct FailingEffect: TimerEffect {
    let kinds: Set<TimerEntry.Kind> = [.daily]

    func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) { throw .internal("no luck") }
}
