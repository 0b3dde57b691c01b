import Foundation
import JSON
import Testing
import TocsinClient
import TocsinCore
import TocsinStore

/// The three daily jobs of a home-task app, on the built server.
@Suite("Founding rows B7 and B8: daily jobs", .timeLimit(.minutes(5)))
struct DailyJobTests {
    @Test("B7, B8: the three hours of the environment make three daily events, and what was due at a kill comes once")
    func daily() async throws {
        let receiver = try Receiver { _, _ in 200 }
        let prepare = { (installation: Installation) in
            let file = installation.folder + "/tocsin.toml"
            let table = """
                [[webhooks]]
                name = "tasks"
                url = "http://127.0.0.1:\(receiver.port)/tasks"
                secret = "whsec_\(Data(repeating: 7, count: 32).base64EncodedString())"
                events = ["schedule.due"]
                schedule-users = ["ada"]
                """
            try table.write(toFile: file, atomically: true, encoding: .utf8)
            installation.options += ["--config", file]
            installation.environment.merge([
                "TOCSIN_WEBHOOKS_ALLOW_LOOPBACK": "true", "TASK_REMINDER_HOUR": "20", "TASK_REMINDER_MINUTE": "30",
                "OVERDUE_REMINDER_HOUR": "9", "DAILY_DIGEST_HOUR": "11",
            ]) { $1 }
        }
        try await Installation.run(prepare: prepare) { installation in
            let ada = try await installation.addUser("ada")
            let client = try installation.makeClient(token: ada)
            let topic = try await client.makeTopic(named: "chores")
            let line = try await installation.tocsin(
                [
                    "schedule", "add", topic, "--title", "Bins out", "--cron", "0 19 * * sun", "--time-zone",
                    "Europe/Berlin",
                ],
                token: ada
            )
            #expect(line.status == 0, "\(line.errors)")
            try await Self.expectHerAlone(installation, ada)
            let id = String(line.output.prefix { $0 != "\t" })
            try await installation.killAndRestartServer { try await Self.makeAllDue(installation) }
            try await eventually("three events and a message") {
                let told = receiver.requests("/tasks").compactMap { Self.job($0) }
                let message = try await client.query(
                    "query($id: ID!) { getScheduledMessage(id: $id) { lastMessageId } }",
                    variables: ["id": .string(id)]
                )
                return told.count >= 3 && message["getScheduledMessage"]?["lastMessageId"]?.stringValue != nil
            }
            // A second life finds nothing left to do.
            try await installation.killAndRestartServer()
            let found = try await client.query(
                "query($id: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $id) { items { title } } }",
                variables: ["id": .string(topic)]
            )
            #expect(found["getMessageByTopicIdAndCreatedAt"]?["items"]?.arrayValue?.count == 1)
            let jobs = receiver.requests("/tasks").compactMap { Self.job($0) }
            #expect(Set(jobs) == ["task-reminder", "overdue-reminder", "daily-digest"])
            let ids = Set(receiver.requests("/tasks").compactMap { $0.headers["webhook-id"] })
            #expect(ids.count == 3, "each came once")
            client.close()
        }
    }

    /// The settings name ada, and nobody else may have the webhook told of a schedule.
    private static func expectHerAlone(_ installation: Installation, _ ada: String) async throws {
        let bob = try await installation.addUser("bob")
        let mutation = """
            mutation { createScheduledMessage(input: {webhook: "tasks", cron: "0 0 1 1 *"}) { id nextAt } }
            """
        let hers = try await installation.curl(mutation, token: ada)
        #expect(hers["data"]?["createScheduledMessage"]?["id"]?.stringValue != nil, "\(hers)")
        let his = try await installation.curl(mutation, token: bob)
        let message = his["errors"]?[0]?["message"]?.stringValue ?? ""
        #expect(message.contains("webhook \"tasks\" takes no events of your schedules"), "\(his)")
        _ = try await installation.curl(
            "mutation($id: ID!) { deleteScheduledMessage(input: {id: $id}) { id } }",
            ["id": hers["data"]?["createScheduledMessage"]?["id"] ?? .null],
            token: ada
        )
        let listed = try await installation.administer(["timers"])
        #expect(listed.contains("\tRECURRING\t") && listed.contains("\tDAILY\ttask-reminder\t-\t0"), "\(listed)")
        let wrong = try await installation.tocsin(
            ["schedule", "add", "chores", "--title", "t", "--at", "yesterday"],
            token: ada
        )
        #expect(wrong.status == 2 && wrong.errors.contains("--at is \"yesterday\". Write a time"), "\(wrong)")
        #expect(!wrong.errors.contains("Variable") && !wrong.errors.contains("AWSDateTime"))
    }

    private static func job(_ request: Receiver.Request) -> String? {
        let body = try? JSONParser.parse(request.body)
        return body?["type"] == "schedule.due" ? body?["data"]?["id"]?.stringValue : nil
    }

    /// Moves all times to yesterday while the server is down, as if it had been down since.
    private static func makeAllDue(_ installation: Installation) async throws {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let store = try await SQLStore.open(installation.database, at: now)
        let due = now.adding(seconds: -3600)
        try await store.write { writer throws(StoreError) in
            let later = now.adding(seconds: 40 * 86_400)
            for var timer in try writer.dueTimers(of: Set(TimerEntry.Kind.allCases), at: later, limit: 100) {
                timer.dueAt = due
                try writer.set(timer)
                if var message = try writer.scheduledMessage(timer.subject) {
                    message.nextAt = due
                    try writer.save(message)
                }
            }
        }
        await store.close()
    }
}
