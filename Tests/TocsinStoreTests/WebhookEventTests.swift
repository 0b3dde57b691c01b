import Testing
import TocsinCore
import TocsinStore

@Suite("Webhooks' events")
struct WebhookEventTests {
    private static func event(_ number: Int, webhook: String = "w") -> WebhookEvent {
        WebhookEvent(
            id: WebhookEventID("e\(number)"),
            webhook: webhook,
            type: .registerPushToken,
            body: "{}",
            createdAt: moment(Int64(number))
        )
    }

    @Test("events are claimed when due, recorded, redriven and removed", arguments: TestDatabase.available)
    func life(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.write { writer throws(StoreError) in
                #expect(try writer.nextWebhookEventDue(of: "w") == nil)
                try writer.add([Self.event(3), Self.event(5), Self.event(4, webhook: "other")])
                #expect(try writer.nextWebhookEventDue(of: "w") == moment(3))
                let claimed = try writer.claimWebhookEvents(
                    of: "w",
                    now: moment(10),
                    leaseUntil: moment(60),
                    limit: 5
                )
                #expect(claimed.map(\.id.text) == ["e3", "e5"])
                #expect(try writer.nextWebhookEventDue(of: "w") == moment(60))
                var dead = claimed[1]
                (dead.status, dead.attempts) = (.dead, 2)
                try writer.finish(claimed[0], heldUntil: moment(60))
                try writer.record(dead, heldUntil: moment(60))
                #expect(try writer.webhookEvents(status: .dead, limit: 5).map(\.id.text) == ["e5"])
                #expect(try writer.redriveWebhookEvents(of: "other", now: moment(70)) == 0)
                #expect(try writer.redriveWebhookEvents(of: nil, now: moment(70)) == 1)
                #expect(try writer.nextWebhookEventDue(of: "w") == moment(70))
                #expect(try writer.removeWebhookEvents(madeBefore: moment(50), limit: 5) == 1)
                #expect(try writer.webhookEvents(status: nil, limit: 5).map(\.id.text) == ["e5"])
            }
        }
    }
}
