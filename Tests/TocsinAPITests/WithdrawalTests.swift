import Dispatch
import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// What senders take off the screen again.
@Suite("Withdrawals of senders", .timeLimit(.minutes(5)))
struct WithdrawalTests {
    /// Alice's topic, and a way in of hers.
    private struct Scene {
        let api: APIHarness
        let integration: Integration

        /// - Parameter hasRoutes: Whether labels may lead into another topic of hers.
        init(hasRoutes: Bool = false) async throws {
            api = try await APIHarness()
            let topic = try await api.makeTopic()
            let other = hasRoutes ? try await api.makeTopic("databases") : nil
            let facts = try #require(UserFacts(of: APIHarness.identity("alice"), naming: [], at: api.time.now()))
            try await api.store.write { writer throws(StoreError) in try writer.save(facts) }
            var integration = Integration(
                id: "i",
                owner: "sub-alice::alice",
                name: "ntfy",
                kind: .ntfy,
                topicID: TopicID(topic)
            )
            if let other {
                let matcher = IntegrationRoute.Matcher("team", .equals, "db")
                integration.routes = [IntegrationRoute([matcher], topicID: TopicID(other))]
            }
            self.integration = integration
        }

        func publish(_ key: String, at due: Timestamp? = nil) async throws -> EventOutcome? {
            var event = SenderEvent(.log, title: "shown")
            (event.collapseKey, event.dueAt) = (key, due)
            return try await api.services.incidents.take([event], from: integration).first
        }

        func withdraw(_ key: String) async throws -> EventOutcome? {
            var event = SenderEvent(.log, title: "Deleted")
            (event.collapseKey, event.isWithdrawal) = (key, true)
            event.data["ntfy"] = "message_delete"
            return try await api.services.incidents.take([event], from: integration).first
        }
    }

    @Test(
        "what is shown is looked for without the writer, which is not needed where nothing is found",
        arguments: [false, true]
    )
    func reading(hasRoutes: Bool) async throws {
        let scene = try await Scene(hasRoutes: hasRoutes)
        _ = try await scene.publish("ntfy/s1")
        let (store, gate) = (scene.api.store, DispatchSemaphore(value: 0))
        let (held, signal) = AsyncStream<Void>.makeStream()
        // A withdrawal that waits for this write is answered after its patience, which fails.
        async let isInTime = store.write { _ throws(StoreError) -> Bool in
            signal.finish()
            return gate.wait(timeout: .now() + 60) == .success
        }
        for await _ in held {}
        let outcome = try await scene.withdraw("ntfy/s2")
        gate.signal()
        #expect(try await isInTime)
        #expect(outcome == EventOutcome())
    }

    @Test("what is shown is taken away once, and what waits comes no more", arguments: [false, true])
    func found(hasRoutes: Bool) async throws {
        let scene = try await Scene(hasRoutes: hasRoutes)
        #expect(try await scene.publish("ntfy/s1")?.messageNumber == 1)
        #expect(try await scene.withdraw("ntfy/s1")?.messageNumber == 2)
        #expect(try await scene.withdraw("ntfy/s1") == EventOutcome())
        let due = scene.api.time.now().adding(seconds: 60)
        #expect(try await scene.publish("ntfy/s2", at: due)?.scheduledID != nil)
        #expect(try await scene.withdraw("ntfy/s2") == EventOutcome())
        let listed = try await scene.api.run("{ listScheduledMessages { items { id } } }")
        #expect(listed["data"]?["listScheduledMessages"]?["items"] == [], "\(listed)")
    }

    @Test("a sender whose topic is gone is refused, whatever it withdraws")
    func gone() async throws {
        let scene = try await Scene()
        var stranger = scene.integration
        stranger.topicID = TopicID("none")
        var event = SenderEvent(.log, title: "Deleted")
        (event.collapseKey, event.isWithdrawal) = ("ntfy/s1", true)
        let withdrawal = event
        await #expect(throws: ServiceError.unauthorized) {
            try await scene.api.services.incidents.take([withdrawal], from: stranger)
        }
    }
}
