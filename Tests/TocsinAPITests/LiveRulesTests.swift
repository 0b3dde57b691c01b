import Foundation
import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("Who hears of a change", .timeLimit(.minutes(5)))
struct LiveRulesTests {
    private static func model() throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Conformance/cases/models")
        return try String(contentsOf: folder.appending(path: "rules.graphql"), encoding: .utf8)
    }

    private static func caller(_ name: String, groups: [String] = [], claims: [String: [String]] = [:]) -> Identity {
        var caller = APIHarness.identity(name)
        caller.claims = claims
        if !groups.isEmpty { caller.claims[AccessRule.groupClaim] = groups }
        return caller
    }

    /// Makes records one after the other; the listener must hear of exactly those expected.
    private func heard(
        _ model: String,
        by listener: Identity,
        _ inputs: [(id: String, input: JSONObject, maker: Identity)],
        count: Int
    ) async throws -> [String] {
        let api = try await APIHarness(model: Self.model())
        let (sink, _) = await api.subscribe("subscription { onCreate\(model) { id } }", as: listener)
        for (id, input, maker) in inputs {
            var input = input
            input["id"] = .string(id)
            let response = try await api.run(
                "mutation($i: Create\(model)Input!) { create\(model)(input: $i) { id } }",
                ["i": .object(input)],
                as: maker
            )
            #expect(response["errors"] == nil, "\(response.serializedString())")
        }
        return try await sink.take(count).compactMap { $0["data"]?["onCreate\(model)"]?["id"]?.stringValue }
    }

    @Test("everybody who has signed in, where private reads")
    func anybody() async throws {
        let alice = Self.caller("alice")
        #expect(try await heard("Board", by: Self.caller("bob"), [("a", [:], alice)], count: 1) == ["a"])
    }

    @Test("a filter on the owner compares with the name that clients see")
    func ownerInFilter() async throws {
        let api = try await APIHarness(model: Self.model())
        let document = "subscription($f: ModelSubscriptionTopicFilterInput) { onCreateTopic(filter: $f) { id owner } }"
        let (stored, _) = await api.subscribe(document, ["f": ["owner": ["eq": "sub-alice::alice"]]])
        let (shown, _) = await api.subscribe(document, ["f": ["owner": ["eq": "alice"]]])
        // When the second has come, the first has been offered to all.
        for name in ["one", "two"] { _ = try await api.makeTopic(name) }
        #expect(try await shown.take(2).count == 2)
        api.feed.stop()
        #expect(try await stored.take(1).isEmpty)
    }

    @Test("members of the group that a row names, and no others")
    func groups() async throws {
        let maker = Self.caller("alice", groups: ["red", "blue"])
        let rows: [(String, JSONObject, Identity)] = [("a", ["group": "blue"], maker), ("b", ["group": "red"], maker)]
        #expect(try await heard("Team", by: Self.caller("bob", groups: ["red"]), rows, count: 1) == ["b"])
    }

    @Test("each owner of a list")
    func owners() async throws {
        let (alice, editors) = (Self.caller("alice"), JSONValue.array(["sub-alice::alice", "sub-bob::bob"]))
        let rows: [(String, JSONObject, Identity)] = [("a", [:], alice), ("b", ["editors": editors], alice)]
        #expect(try await heard("Shared", by: Self.caller("bob"), rows, count: 1) == ["b"])
    }

    @Test("an owner by another claim")
    func otherClaim() async throws {
        let (one, two) = (["email": ["a@x.org"]], ["email": ["b@x.org"]])
        let rows: [(String, JSONObject, Identity)] = [
            ("a", [:], Self.caller("alice", claims: two)), ("b", [:], Self.caller("alice", claims: one)),
        ]
        #expect(try await heard("ByMail", by: Self.caller("bob", claims: one), rows, count: 1) == ["b"])
    }

    @Test("one user's tokens with other groups hear what each may, though all else is equal")
    func tokensOfOneUser() async throws {
        let api = try await APIHarness(model: Self.model())
        let query = "subscription { onCreateTeam { id } }"
        let (red, _) = await api.subscribe(query, as: Self.caller("bob", groups: ["red"]))
        let (blue, _) = await api.subscribe(query, as: Self.caller("bob", groups: ["blue"]))
        let maker = Self.caller("alice", groups: ["red", "blue"])
        for group in ["blue", "red"] {
            _ = try await api.run(
                "mutation { createTeam(input: {id: \"\(group)\", group: \"\(group)\"}) { id } }",
                as: maker
            )
        }
        #expect(try await red.take(1) == [["data": ["onCreateTeam": ["id": "red"]]]])
        #expect(try await blue.take(1) == [["data": ["onCreateTeam": ["id": "blue"]]]])
    }
}
