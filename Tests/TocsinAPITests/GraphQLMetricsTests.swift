import GraphQL
import GraphQLTransport
import JSON
import Metrics
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("What operations and the live feed count", .timeLimit(.minutes(5)))
struct GraphQLMetricsTests {
    private func text(_ sources: any MetricSource...) -> String {
        String(decoding: MetricFormat.text.write(sources.flatMap { $0.families }), as: UTF8.self)
    }

    private func expect(_ text: String, has lines: String...) {
        for line in lines { #expect(text.contains(line + "\n"), "\(line)") }
    }

    /// Waits until the feed's series have these values.
    private func expect(_ lines: String..., of feed: LiveFeed) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while let missing = lines.first(where: { !text(feed.metrics).contains($0 + "\n") }) {
            try #require(ContinuousClock.now < end, "\(missing) is not in\n\(text(feed.metrics))")
            await Task.yield()
        }
    }

    @Test("each operation counts once, by kind and outcome, and each of its errors by code")
    func operations() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for _ in 0..<3 { _ = try await api.run("{ __typename }") }
        _ = try await api.run("query($id: ID!) { getTopic(id: $id) { name } }")
        _ = try await api.run("{ nowhere }")
        _ = try await api.run("{")
        _ = try await api.run("mutation { deleteTopic(input: {id: \"none\"}) { id } }")
        _ = await api.subscribe("subscription { onCreateMessage(topicId: \"none\") { id } }")
        _ = await api.subscribe("subscription { onCreateMessage(topicId: \"\(topic)\") { id } }")
        expect(
            text(api.service),
            has: #"tocsin_graphql_duration_seconds_count{operation="query",outcome="ok"} 3"#,
            #"tocsin_graphql_duration_seconds_count{operation="query",outcome="request_error"} 1"#,
            #"tocsin_graphql_duration_seconds_count{operation="mutation",outcome="ok"} 1"#,
            #"tocsin_graphql_duration_seconds_count{operation="mutation",outcome="errors"} 1"#,
            #"tocsin_graphql_duration_seconds_count{operation="subscription",outcome="request_error"} 1"#,
            #"tocsin_graphql_duration_seconds_count{operation="subscription",outcome="ok"} 1"#,
            #"tocsin_graphql_errors_total{code="BAD_USER_INPUT"} 1"#,
            #"tocsin_graphql_errors_total{code="GRAPHQL_VALIDATION_FAILED"} 1"#,
            #"tocsin_graphql_errors_total{code="GRAPHQL_PARSE_FAILED"} 1"#,
            #"tocsin_graphql_errors_total{code="UNAUTHORIZED"} 2"#,
            #"tocsin_graphql_errors_total{code="CONFLICT"} 0"#,
            #"tocsin_graphql_plan_cache_total{result="rejected"} 2"#,
            #"tocsin_graphql_plan_cache_total{result="hit"} 2"#
        )
    }

    @Test("a publish counts once, by what became of the message")
    func publishes() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for title in ["a", "b"] { try await api.publish(title, to: topic) }
        for _ in 0..<3 { try await api.publish("c", to: topic, with: ["key": "k"]) }
        try await api.publish("d", to: topic, with: ["key": "k"])
        try await api.publish("e", to: "none")
        expect(
            text(api.service),
            has: #"tocsin_publish_duration_seconds_count{result="created"} 3"#,
            #"tocsin_publish_duration_seconds_count{result="repeated"} 2"#,
            #"tocsin_publish_duration_seconds_count{result="conflict"} 1"#,
            #"tocsin_publish_duration_seconds_count{result="refused"} 1"#,
            #"tocsin_publish_duration_seconds_count{result="unavailable"} 0"#
        )
    }

    @Test("a document that is named counts as found, missing or refused")
    func documents() async throws {
        let api = try await APIHarness(documents: { _ in
            RequestDocuments(hash: { _ in Array(repeating: 1, count: 32) }, persisted: .init())
        })
        let digest = String(repeating: "01", count: 32)
        let named: JSONObject = ["persistedQuery": ["version": 1, "sha256Hash": .string(digest)]]
        func run(_ query: String) async {
            let request = GraphQLRequest(query: query, extensions: named)
            _ = await api.service.execute(request, caller: APIHarness.identity("alice"), style: .standard)
        }
        await run("")
        await run("{ __typename }")
        await run("")
        await run("")
        let request = GraphQLRequest(query: "", documentID: "an-id")
        _ = await api.service.execute(request, caller: APIHarness.identity("alice"), style: .standard)
        expect(
            text(api.service),
            has: #"tocsin_persisted_documents_total{result="hit"} 2"#,
            #"tocsin_persisted_documents_total{result="miss"} 3"#,
            #"tocsin_persisted_documents_total{result="refused"} 0"#,
            #"tocsin_persisted_documents_kept{kind="stored"} 1"#
        )
    }

    @Test("a turn of a group is one sample, however many members it has, and groups count while they are there")
    func turns() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let sender = TestSender()
        let sinks = (0..<3).map { _ in SenderSink(sender) }
        var handles: [any StreamHandle] = []
        for sink in sinks {
            guard case .stream(let handle) = await api.subscribe("subscription { onCreateMessage { id } }", sink: sink)
            else { continue }
            handles.append(handle)
        }
        try await api.publish("a", to: topic)
        for sink in sinks { _ = await sink.inbox.takeResponses(1) }
        try await expect(
            #"tocsin_commit_to_socket_seconds_count{hop="same"} 1"#,
            #"tocsin_commit_to_socket_seconds_count{hop="other"} 0"#,
            "tocsin_live_groups 1",
            #"tocsin_live_group_members_bucket{le="2.0"} 0"#,
            #"tocsin_live_group_members_bucket{le="4.0"} 1"#,
            of: api.feed
        )
        for handle in handles { handle.cancel() }
        try await expect("tocsin_live_groups 0", of: api.feed)
    }

    @Test("what another node committed counts as its own hop, from the time that the record tells")
    func otherNode() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let told = Told()
        api.hub.add { events in
            for case .updated(let record) in events { told.updates.withLock { $0.append(.updated(record)) } }
        }
        let update = "mutation { updateTopic(input: {id: \"\(topic)\", name: \"new\", _version: 1}) { id } }"
        _ = try await api.run(update)
        let updates = told.updates.withLock(\.self)
        #expect(updates.count == 1)
        let sink = SenderSink(TestSender())
        _ = await api.subscribe("subscription { onUpdateTopic { name } }", sink: sink)
        // As the journal tells it, whose entries have no moment of this node's clock.
        api.time.advance(seconds: 3)
        api.hub.publish(updates, .one(CommitOrigin(isHere: false, at: nil)))
        try await expect(
            #"tocsin_commit_to_socket_seconds_count{hop="other"} 1"#,
            #"tocsin_commit_to_socket_seconds_bucket{hop="other",le="2.5"} 0"#,
            #"tocsin_commit_to_socket_seconds_count{hop="same"} 0"#,
            of: api.feed
        )
    }

    private final class Told: Sendable {
        let updates = Mutex<[DomainEvent]>([])
    }

    @Test("what there is as much of as may be counts as refused by its quota")
    func quotas() async throws {
        var limits = ServiceLimits()
        (limits.topicsPerOwner, limits.devicesPerUser) = (1, 1)
        let api = try await APIHarness(limits: limits)
        _ = try await api.makeTopic()
        for name in ["b", "c"] { _ = try await api.run("mutation { createTopic(input: {name: \"\(name)\"}) { id } }") }
        for token in ["a", "b", "a"] {
            let phone = String(repeating: token, count: 64)
            _ = try await api.run("mutation { registerPushToken(token: \"\(phone)\", platform: \"ios\") { userId } }")
        }
        expect(
            text(api.environment.metrics),
            has: #"tocsin_quota_refused_total{quota="topics"} 2"#,
            #"tocsin_quota_refused_total{quota="devices"} 1"#,
            #"tocsin_quota_refused_total{quota="storage"} 0"#
        )
    }

    @Test("a replay counts by how it ended, and each message that it brought")
    func replays() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for title in ["a", "b", "c"] { try await api.publish(title, to: topic) }
        let document = "subscription($a: String) { onCreateMessage(topicId: \"\(topic)\", after: $a) { title } }"
        func subscribe(after cursor: String, into sink: CollectingSink = CollectingSink()) async -> SubscribeOutcome {
            let request = GraphQLRequest(query: document, variables: ["a": .string(cursor)])
            return await api.subscribe(request, into: sink).outcome
        }
        _ = await subscribe(after: "")
        _ = await subscribe(after: "nonsense")
        let stuck = CollectingSink(isClosed: true)
        guard case .stream(let handle) = await subscribe(after: "", into: stuck) else {
            Issue.record("it was refused")
            return
        }
        _ = handle
        try await expect(
            #"tocsin_replays_total{result="complete"} 2"#,
            #"tocsin_replays_total{result="bad_cursor"} 1"#,
            #"tocsin_replays_total{result="cut"} 0"#,
            "tocsin_replay_messages_total 6",
            of: api.feed
        )
    }
}
