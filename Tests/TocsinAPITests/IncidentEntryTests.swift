import GraphQL
import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// `onIncidentEntry`: a timeline that is followed.
@Suite("Following a timeline", .timeLimit(.minutes(2)))
struct IncidentEntryTests {
    private static let bob = APIHarness.identity("bob")

    private struct Scene {
        let api: APIHarness
        let topic: String
        let incident: String

        init() async throws {
            api = try await APIHarness()
            topic = try await api.makeTopic()
            let raised = try await api.run(
                "mutation($t: ID!) { raiseIncident(input: {topicId: $t, title: \"disk\", key: \"db-1\"}) { id } }",
                ["t": .string(topic)]
            )
            incident = raised["data"]?["raiseIncident"]?["id"]?.stringValue ?? "\(raised)"
        }

        func follow(
            after: Int64? = nil,
            as caller: Identity = APIHarness.identity("alice")
        ) async -> (sink: CollectingSink, outcome: SubscribeOutcome) {
            await api.subscribe(
                "subscription($i: ID!, $n: Int) { onIncidentEntry(incidentId: $i, after: $n) { number change by text } }",
                ["i": .string(incident), "n": after.map { .int($0) } ?? .null],
                as: caller
            )
        }

        func act(_ mutation: String) async throws {
            let answer = try await api.run("mutation { \(mutation) }")
            #expect(answer["errors"] == nil, "\(answer)")
        }

        func note(_ text: String) async throws {
            try await act("addIncidentNote(id: \"\(incident)\", text: \"\(text)\") { number }")
        }
    }

    private static func entries(_ sink: CollectingSink, _ count: Int) async throws -> [String] {
        try await sink.take(count).map {
            let entry = $0["data"]?["onIncidentEntry"]
            return "\(entry?["number"]?.intValue ?? 0) \(entry?["change"]?.stringValue ?? "\($0)")"
        }
    }

    @Test("what came after a number is told first, then each entry as it comes, notes too, and none twice")
    func follows() async throws {
        let scene = try await Scene()
        try await scene.note("looking")
        let (whole, _) = await scene.follow(after: 0)
        let (later, _) = await scene.follow(after: 1)
        let (live, _) = await scene.follow()
        #expect(try await Self.entries(whole, 2) == ["1 OPENED", "2 NOTED"])
        #expect(try await Self.entries(later, 1) == ["2 NOTED"])
        try await scene.act("acknowledgeIncident(id: \"\(scene.incident)\") { state }")
        try await scene.note("found it")
        try await scene.act("resolveIncident(id: \"\(scene.incident)\") { state }")
        for sink in [whole, later, live] {
            #expect(try await Self.entries(sink, 3) == ["3 ACKNOWLEDGED", "4 NOTED", "5 RESOLVED"])
        }
        let (ahead, _) = await scene.follow(after: 5)
        try await scene.act("reopenIncident(id: \"\(scene.incident)\") { state }")
        #expect(try await Self.entries(ahead, 1) == ["6 REOPENED"])
    }

    @Test("a long timeline comes whole and in order while it grows")
    func long() async throws {
        let scene = try await Scene()
        for number in 2...70 { try await scene.note("note \(number)") }
        let (sink, _) = await scene.follow(after: 0)
        for number in 71...120 { try await scene.note("note \(number)") }
        let entries = try await Self.entries(sink, 120)
        #expect(entries == ["1 OPENED"] + (2...120).map { "\($0) NOTED" })
    }

    @Test("others are told what is told of nothing; who may see it no more hears no more")
    func rights() async throws {
        let scene = try await Scene()
        guard case .refused(let errors) = await scene.follow(as: Self.bob).outcome else {
            Issue.record("bob follows what is not his")
            return
        }
        let code = try JSONParser.parse(errors)[0]?["extensions"]?["code"]
        #expect(code == "UNAUTHORIZED")
        let negative = await scene.follow(after: -1)
        guard case .refused = negative.outcome else {
            Issue.record("a number below zero is taken")
            return
        }
        let facts = try #require(UserFacts(of: Self.bob, naming: [], at: scene.api.time.now()))
        try await scene.api.store.write { writer throws(StoreError) in try writer.save(facts) }
        let granted = try await scene.api.run(
            "mutation { grantTopic(input: {topicId: \"\(scene.topic)\", user: \"sub-bob\", roles: [READER]}) { id } }"
        )
        let grant = try #require(granted["data"]?["grantTopic"]?["id"]?.stringValue, "\(granted)")
        let (sink, outcome) = await scene.follow(after: 0, as: Self.bob)
        guard case .stream = outcome else {
            Issue.record("bob may read, and cannot follow")
            return
        }
        #expect(try await Self.entries(sink, 1) == ["1 OPENED"])
        try await scene.act("revokeGrant(id: \"\(grant)\") { id }")
        try await scene.note("secret")
        #expect(try await sink.take(1).isEmpty, "the subscription ended without the note")
        #expect(try sink.failure()?["extensions"]?["code"] == "UNAUTHORIZED")
    }

    @Test("who leaves is not told, and nothing is kept for them")
    func leaving() async throws {
        let scene = try await Scene()
        let (_, outcome) = await scene.follow()
        guard case .stream(let stream) = outcome else {
            Issue.record("alice cannot follow")
            return
        }
        #expect(scene.api.feed.isListenedTo)
        stream.cancel()
        #expect(!scene.api.feed.isListenedTo)
        try await scene.note("nobody hears")
    }
}
