import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// Incidents that are open where their integration does not post any more.
@Suite("Incidents whose route is gone")
struct IncidentPlaceTests {
    /// Two topics of alice's and one of bob's, where she publishes by a grant, and her way in.
    private struct Scene {
        let api: APIHarness
        let own: String
        let other: String
        let bobs: String
        let grant: JSONValue
        var integration: Integration

        init() async throws {
            let api = try await APIHarness()
            self.api = api
            own = try await api.makeTopic()
            other = try await api.makeTopic("databases")
            bobs = try await api.makeTopic("bobs", as: APIHarness.identity("bob"))
            let facts = ["alice", "bob"].compactMap {
                UserFacts(of: APIHarness.identity($0), naming: [], at: api.time.now())
            }
            try await api.store.write { writer throws(StoreError) in for facts in facts { try writer.save(facts) } }
            let input = "{topicId: \"\(bobs)\", user: \"sub-alice\", roles: [PUBLISHER]}"
            let granted = try await api.run(
                "mutation { grantTopic(input: \(input)) { id } }",
                as: APIHarness.identity("bob")
            )
            grant = try #require(granted["data"]?["grantTopic"]?["id"], "\(granted)")
            integration = Integration(
                id: "i",
                owner: "sub-alice::alice",
                name: "Prometheus",
                kind: .event,
                topicID: TopicID(own)
            )
        }

        /// Lets all that comes go into a topic.
        mutating func route(to topic: String) {
            let matcher = IntegrationRoute.Matcher("team", .differs, "web")
            integration.routes = [IntegrationRoute([matcher], topicID: TopicID(topic))]
        }

        func take(_ events: SenderEvent...) async throws -> [EventOutcome] {
            try await api.services.incidents.take(events, from: integration)
        }

        /// Topic and state of the incidents that somebody reads.
        func incidents(_ name: String = "alice") async throws -> Set<[String]> {
            let found = try await api.run(
                "{ listIncidents { items { key topicId state occurrences } } }",
                as: APIHarness.identity(name)
            )
            let items = try #require(found["data"]?["listIncidents"]?["items"]?.arrayValue, "\(found)")
            return Set(
                items.map { item in
                    let words = ["key", "topicId", "state"].map { item[$0]?.stringValue ?? "" }
                    return words + ["\(item["occurrences"]?.intValue ?? 0)"]
                }
            )
        }
    }

    private static func trigger(_ key: String) -> SenderEvent { SenderEvent(.trigger, key: key, title: "disk") }

    private static func alert(_ fingerprint: String, isFiring: Bool) -> SenderEvent.Alert {
        SenderEvent.Alert(fingerprint: fingerprint, isFiring: isFiring, title: "disk", labels: [:])
    }

    @Test(
        "repeats and ends of a key reach its open incident where routes, or the way in, led to once",
        arguments: ["taken away", "changed", "moved"]
    )
    func former(what: String) async throws {
        var scene = try await Scene()
        scene.route(to: scene.other)
        let opened = try await scene.take(Self.trigger("a"), Self.trigger("b"))
        #expect(opened.map(\.topicID) == [TopicID(scene.other), TopicID(scene.other)])
        var next = scene.own
        switch what {
        case "taken away": scene.integration.routes = []
        case "changed": scene.route(to: scene.own)
        default:
            next = try await scene.api.makeTopic("third")
            (scene.integration.routes, scene.integration.topicID) = ([], TopicID(next))
        }
        let later = try await scene.take(
            Self.trigger("a"),
            SenderEvent(.acknowledge, key: "b"),
            Self.trigger("new")
        )
        #expect(later.map(\.incidentID).prefix(2) == opened.map(\.incidentID)[...], "\(later)")
        #expect(later.map(\.topicID) == [TopicID(scene.other), TopicID(scene.other), nil])
        #expect(
            try await scene.incidents() == [
                ["a", scene.other, "OPEN", "2"], ["b", scene.other, "ACKNOWLEDGED", "1"], ["new", next, "OPEN", "1"],
            ]
        )
        let ended = try await scene.take(SenderEvent(.resolve, key: "a"), SenderEvent(.resolve, key: "b"))
        #expect(ended.map(\.change) == [.resolved, .resolved])
        // What comes after its end begins anew, where events go now.
        let again = try await scene.take(Self.trigger("a"))
        #expect(again.map(\.change) == [.opened] && again.map(\.topicID) == [nil])
    }

    @Test("the end of an alert reaches the incident in which it fires, by whatever key it comes")
    func alerts() async throws {
        var scene = try await Scene()
        scene.integration.grouping = .alert
        scene.route(to: scene.other)
        var group = SenderEvent(.trigger, key: "group", title: "disk")
        group.alerts = ["1", "2"].map { Self.alert($0, isFiring: true) }
        _ = try await scene.take(group)
        (scene.integration.routes, scene.integration.grouping) = ([], .group)
        group.action = .resolve
        group.alerts = [Self.alert("2", isFiring: false)]
        let ended = try await scene.take(group)
        #expect(ended.map(\.change) == [.resolved] && ended.map(\.topicID) == [TopicID(scene.other)], "\(ended)")
    }

    @Test("where the owner may not publish any more, nothing is changed, and a key begins anew")
    func takenBack() async throws {
        var scene = try await Scene()
        scene.route(to: scene.bobs)
        _ = try await scene.take(Self.trigger("a"))
        scene.integration.routes = []
        let revoked = try await scene.api.run(
            "mutation($id: ID!) { revokeGrant(id: $id) { id } }",
            ["id": scene.grant],
            as: APIHarness.identity("bob")
        )
        #expect(revoked["errors"] == nil, "\(revoked)")
        let later = try await scene.take(Self.trigger("a"), SenderEvent(.resolve, key: "a"))
        #expect(later.map(\.change) == [.opened, .resolved] && later.map(\.topicID) == [nil, nil], "\(later)")
        #expect(try await scene.incidents("bob") == [["a", scene.bobs, "OPEN", "1"]])
        #expect(try await scene.incidents() == [["a", scene.own, "RESOLVED", "1"]])
    }

    @Test("other integrations' incidents of the key are not theirs")
    func others() async throws {
        var scene = try await Scene()
        scene.route(to: scene.other)
        _ = try await scene.take(Self.trigger("a"))
        scene.integration.routes = []
        // Ids that begin alike, and come just before and behind.
        for id in ["I", "i0", "iA", "i-"] {
            scene.integration.id = id
            let outcome = try await scene.take(SenderEvent(.resolve, key: "a"))
            #expect(outcome.map(\.incidentID) == [nil], "\(id)")
        }
        #expect(try await scene.incidents() == [["a", scene.other, "OPEN", "1"]])
    }
}
