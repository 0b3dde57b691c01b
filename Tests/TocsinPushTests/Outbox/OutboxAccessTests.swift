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

    private static let shared = TestModels(rules: [
        "Topic": [AccessRule(.owner(field: "owner", claim: AccessRule.ownerClaim))],
        "Message": [AccessRule(.owner(field: "owner", claim: AccessRule.ownerClaim))],
    ])

    private func grant(_ subject: GrantSubject, until end: Timestamp? = nil) -> TopicGrant {
        var grant = TopicGrant(
            id: GrantID(subject.text),
            topicID: TopicID("topic-1"),
            subject: subject,
            roles: .reader,
            createdAt: Timestamp(milliseconds: 1),
            createdBy: UserID("ann")
        )
        grant.expiresAt = end
        return grant
    }

    @Test("a fan-out and a retry are judged by what is granted when they are sent")
    func granted() async throws {
        try await OutboxHarness.with(models: Self.shared) { harness in
            try await harness.add((1...4).map { Device.sample("d\($0)", token: "aa0\($0)", user: "user-\($0)") })
            try await harness.know("user-1", groups: [])
            try await harness.know("user-2", groups: ["ops"])
            try await harness.know("user-3", groups: [])
            try await harness.know("user-4", groups: ["dev"])
            let (byName, byGroup) = (grant(.user(UserID("user-1"))), grant(.group("oidc:ops")))
            // The database's clock is far behind it.
            let over = grant(.group("oidc:dev"), until: Timestamp(milliseconds: 1_000_000))
            try await harness.store.write { writer throws(StoreError) in
                for grant in [byName, byGroup, over] { try writer.save(grant, replacing: nil) }
            }
            try await harness.running { worker in
                harness.transport.answer { _, _ in .apns(503, "ServiceUnavailable") }
                try await harness.publish("m1")
                worker.wake()
                try await harness.deliveries { rows in
                    rows.count == 4 && rows.count { $0.status == .waiting } == 2
                        && rows.count { $0.status == .ended && $0.reason == "ACCESS_ENDED" } == 2
                }
                try await harness.store.write { writer throws(StoreError) in
                    try writer.remove(byName, at: Timestamp(milliseconds: 2))
                }
                harness.transport.answer { _, _ in .ok }
                let rows = try await harness.deliveries { rows in
                    rows.allSatisfy { ![.waiting, .sending].contains($0.status) }
                }
                #expect(rows.map { $0.status } == [.ended, .accepted, .ended, .ended])
            }
        }
    }

    @Test("a fan-out that waited answers those whose membership ended with their access: ACCESS_ENDED")
    func endedMembership() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add((1...2).map { Device.sample("d\($0)", token: "aa0\($0)", user: "user-\($0)") })
            try await harness.publish("m1")
            try await harness.store.write { writer throws(StoreError) in
                try writer.removeMembership(of: UserID("user-1"), in: TopicID("topic-1"), reason: .accessEnded)
                try writer.removeMembership(of: UserID("user-2"), in: TopicID("topic-1"))
            }
            harness.transport.answer { _, _ in .ok }
            try await harness.running { worker in
                worker.wake()
                let rows = try await harness.deliveries { $0.are(2, .ended) }
                #expect(rows.map { $0.reason } == ["ACCESS_ENDED", "LEFT_TOPIC"])
            }
        }
    }
}
