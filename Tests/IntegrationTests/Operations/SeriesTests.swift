import Foundation
import JSON
import Testing
import TocsinClient

@Suite("The series of messages, sockets and pushes", .timeLimit(.minutes(5)))
struct SeriesTests {
    private static let topic = "the-walk"

    /// A topic of this test's id, with phones.
    private static func scene(_ installation: Installation, phones: [String]) async throws -> TocsinClient {
        let client = try installation.makeClient(token: try await installation.addUser("ada"))
        for phone in phones { try await PushScene.register(phone, client) }
        _ = try await client.mutate(
            "mutation($id: ID!) { createTopic(input: {id: $id, name: \"walk\"}) { id } }",
            variables: ["id": .string(topic)]
        )
        return client
    }

    private static func publish(_ client: TocsinClient, _ title: String, _ more: JSONObject = [:]) async throws {
        var input: JSONObject = ["topicId": .string(topic), "type": 1, "title": .string(title), "body": "b"]
        for member in more { input[member.key] = member.value }
        _ = try await client.mutate(
            "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }",
            variables: ["i": .object(input)]
        )
    }

    @Test("what was published, followed and pushed is what /metrics counts, and no time is longer than its client saw")
    func walk() async throws {
        try await Installation.run {
            $0.environment["TOCSIN_METRICS_TOPICS"] = "another,\(Self.topic)"
        } _: { installation in
            let ada = try await Self.scene(installation, phones: Phone.ofAda)
            let token = try await installation.makeMetricsToken(user: "ada")
            let socket = try await RawSocket(installation, token: try await installation.makeToken(user: "ada"))
            try await socket.subscribe("subscription { onCreateMessage(topicId: \"\(Self.topic)\") { title } }")
            let before = try await installation.metrics(token)
            let start = ContinuousClock.now
            for title in ["a", "b", "c"] { try await Self.publish(ada, title) }
            for _ in 0..<2 { try await Self.publish(ada, "d", ["key": "k"]) }
            await #expect(throws: ClientError.self) { try await Self.publish(ada, "e", ["key": "k"]) }
            try await Self.publish(ada, "f", ["priority": 5])
            let publishing = start.duration(to: .now)
            for _ in 0..<5 { _ = try await socket.next() }
            let following = start.duration(to: .now)
            let expected: [String: Double] = [
                #"tocsin_messages_created_total{priority="3"}"#: 4,
                #"tocsin_messages_created_total{priority="5"}"#: 1,
                #"tocsin_topic_messages_total{topic="the-walk"}"#: 5,
                #"tocsin_topic_messages_total{topic="another"}"#: 0,
                #"tocsin_publish_duration_seconds_count{result="created"}"#: 5,
                #"tocsin_publish_duration_seconds_count{result="repeated"}"#: 1,
                #"tocsin_publish_duration_seconds_count{result="conflict"}"#: 1,
                #"tocsin_graphql_duration_seconds_count{operation="mutation",outcome="ok"}"#: 6,
                #"tocsin_graphql_duration_seconds_count{operation="mutation",outcome="errors"}"#: 1,
                #"tocsin_graphql_errors_total{code="CONFLICT"}"#: 1,
                #"tocsin_live_events_total{protocol="ws"}"#: 5,
                #"tocsin_live_frames_total{protocol="ws"}"#: 5,
                #"tocsin_push_answers_total{provider="apns",status="200",reason="none"}"#: 10,
                #"tocsin_push_answers_total{provider="fcm",status="200",reason="none"}"#: 5,
                #"tocsin_push_attempt_duration_seconds_count{provider="apns",result="accepted"}"#: 10,
                #"tocsin_push_commit_to_accept_seconds_count{provider="apns",priority="normal"}"#: 8,
                #"tocsin_push_commit_to_accept_seconds_count{provider="apns",priority="urgent"}"#: 2,
                #"tocsin_push_commit_to_accept_seconds_count{provider="fcm",priority="normal"}"#: 4,
                #"tocsin_deliveries_total{provider="apns",status="accepted",reason="none"}"#: 10,
                #"tocsin_deliveries_total{provider="fcm",status="accepted",reason="none"}"#: 5,
                #"tocsin_push_credential_refresh_total{provider="apns",result="ok"}"#: 1,
                #"tocsin_push_credential_refresh_total{provider="fcm",result="ok"}"#: 1,
            ]
            let after = try await Self.metrics(installation, token, since: before, expected)
            let accepting = start.duration(to: .now)
            #expect(after[#"tocsin_device_events_total{event="registered"}"#] == 3)
            #expect(after[#"tocsin_sockets{protocol="ws"}"#] == 1)
            #expect(after[#"tocsin_subscriptions{protocol="ws"}"#] == 1)
            #expect(after["tocsin_live_groups"] == 1)
            #expect((after[#"tocsin_messages_bytes_total"#] ?? 0) > 0)
            #expect((after[#"tocsin_push_connections{provider="apns"}"#] ?? 0) > 0)
            // Several messages may be one turn.
            let turns = after[#"tocsin_commit_to_socket_seconds_count{hop="same"}"#] ?? 0
            #expect((1...5).contains(turns))
            #expect(after[#"tocsin_live_group_members_bucket{le="1.0"}"#] == turns)
            // The clients saw all that these measure, and more: the sums stay below.
            let publishes = [
                "created", "repeated", "conflict",
            ].map { after["tocsin_publish_duration_seconds_sum{result=\"\($0)\"}"] ?? 0 }.reduce(0, +)
            #expect(publishes > 0 && publishes <= publishing / .seconds(1))
            let live = after[#"tocsin_commit_to_socket_seconds_sum{hop="same"}"#] ?? 0
            #expect(live > 0 && live <= turns * (following / .seconds(1)))
            // Times of messages are whole milliseconds.
            let urgent = after[#"tocsin_push_commit_to_accept_seconds_sum{provider="apns",priority="urgent"}"#] ?? 0
            #expect(urgent > 0 && urgent <= 2 * (accepting / .seconds(1) + 0.002))
        }
    }

    /// What `/metrics` says once the counters have risen by this much; fails with what differs.
    private static func metrics(
        _ installation: Installation,
        _ token: String,
        since before: MetricsText,
        _ expected: [String: Double]
    ) async throws -> MetricsText {
        var wrong: [String] = []
        do {
            return try await eventually("the counters have risen") { () -> MetricsText? in
                let after = try await installation.metrics(token)
                wrong = expected.compactMap { series, rise in
                    let risen = after[series].map { $0 - (before[series] ?? 0) }
                    return risen == rise
                        ? nil : "\(series) has risen by \(risen.map { "\($0)" } ?? "nothing"), not \(rise)"
                }
                return wrong.isEmpty ? after : nil
            }
        } catch {
            throw HarnessFailure("\(error) \(wrong.sorted().joined(separator: "\n"))")
        }
    }

    @Test("topics, devices, operation names, documents, paths and clients by the hundred make no series")
    func storm() async throws {
        try await Installation.run { installation in
            let ada = try await Self.scene(installation, phones: [Phone.android])
            let token = try await installation.makeMetricsToken(user: "ada")
            try await Self.storm(installation, ada, 0..<2)
            let names = try await eventually("the database's figures are read") { () -> Set<String>? in
                let text = try await installation.metrics(token)
                return text["tocsin_metrics_refresh_age_seconds"] == nil ? nil : Set(text.values.keys)
            }
            try await Self.storm(installation, ada, 2..<150)
            let after = Set(try await installation.metrics(token).values.keys)
            // Requests have a series for each status in use; the others come with their first time.
            let late = [
                "http_server_request_duration_seconds", "tocsin_push_credential_age_seconds",
                "tocsin_job_last_success_timestamp_seconds",
            ]
            let new = after.subtracting(names).filter { series in !late.contains { series.hasPrefix($0) } }
            #expect(new.isEmpty, "\(new.sorted())")
            #expect(after.count < 3000, "\(after.count) series")
            #expect(!after.contains { $0.contains("storm") })
        }
    }

    private static func storm(_ installation: Installation, _ ada: TocsinClient, _ numbers: Range<Int>) async throws {
        for number in numbers {
            let topic = try await ada.makeTopic(named: "storm-\(number)")
            _ = try await ada.publish(topic: .id(topic), title: "storm-\(number)")
            try? await PushScene.register("storm-\(number):phone", ada)
            _ = try await ada.query("query Storm\(number) { __typename storm\(number): __typename }")
        }
        let paths = "/storm-[\(numbers.lowerBound)-\(numbers.upperBound)]"
        _ = try await installation.http(paths, ["--user-agent", "storm/\(numbers.lowerBound)"])
        _ = try await installation.curl("{ storm\(numbers.lowerBound) }", token: "storm-\(numbers.lowerBound)")
    }
}
