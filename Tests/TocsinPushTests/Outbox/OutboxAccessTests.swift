import Testing
import TocsinCore
import TocsinPush

/// What is known of people who are not here, and how long it counts.
@Suite("Pushes by what is known of people")
struct OutboxAccessTests {
    @Test("a fan-out and a retry are judged by what is known when they are sent")
    func judged() async throws {
        let models = TestModels(rules: [
            "Topic": [AccessRule(.groups(["ops"], claim: AccessRule.groupClaim), operations: [.read])],
            "Message": [AccessRule(.signedIn)],
        ])
        try await OutboxHarness.with(models: models) { harness in
            try await harness.add((1...3).map { Device.sample("d\($0)", token: "aa0\($0)", user: "user-\($0)") })
            try await harness.know("user-1", groups: ["ops"])
            try await harness.know("user-2", groups: ["dev"])
            try await harness.running { worker in
                // All but user-2 are sent to: nothing is known of user-3. The provider
                // has no time for them yet.
                harness.transport.answer { _, _ in .apns(503, "ServiceUnavailable") }
                try await harness.publish("m1")
                worker.wake()
                try await harness.deliveries { rows in
                    rows.count == 3 && rows.count { $0.status == .waiting } == 2
                        && rows.contains { $0.status == .ended && $0.reason == "ACCESS_ENDED" }
                }
                try await harness.know("user-1", groups: [])
                harness.transport.answer { _, _ in .ok }
                let rows = try await harness.deliveries { rows in
                    rows.allSatisfy { ![.waiting, .sending].contains($0.status) }
                }
                #expect(rows.map { $0.status } == [.ended, .ended, .accepted])
                #expect(rows.map { $0.reason } == ["ACCESS_ENDED", "ACCESS_ENDED", nil])
            }
        }
    }
}
