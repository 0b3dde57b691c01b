import Foundation
import GraphQLTransport
import JSON
import Testing
import TocsinCore

@Suite("Groups of equal subscribers", .timeLimit(.minutes(5)))
struct LiveGroupTests {
    /// Two listeners to new persons, whose `salary` is for admins, and whether
    /// they get the same bytes.
    struct Pair: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var one: Identity
        var other: Identity
        var shares: Bool
    }

    private static func token(_ name: String, session: String, groups: [String] = []) -> Identity {
        var caller = APIHarness.identity(name)
        caller.claims = ["jti": [session], "origin_jti": ["o" + session], "email": ["\(name)@example.org"]]
        if !groups.isEmpty { caller.claims[AccessRule.groupClaim] = groups }
        return caller
    }

    private static let pairs = [
        Pair(
            testDescription: "two sessions of one user",
            one: token("ada", session: "1", groups: ["staff"]),
            other: token("ada", session: "2", groups: ["staff"]),
            shares: true
        ),
        Pair(
            testDescription: "one user with other groups",
            one: token("ada", session: "1", groups: ["admins"]),
            other: token("ada", session: "1"),
            shares: false
        ),
        Pair(
            testDescription: "two users with other groups",
            one: token("ada", session: "1", groups: ["admins"]),
            other: token("bob", session: "2", groups: ["staff"]),
            shares: false
        ),
        Pair(
            testDescription: "one user with another value of a claim that a rule names",
            one: token("ada", session: "1"),
            other: {
                var caller = token("ada", session: "1")
                caller.claims["email"] = ["ada@example.com"]
                return caller
            }(),
            shares: false
        ),
    ]

    @Test("an event is made once for tokens that rules cannot tell apart, and apart for others", arguments: pairs)
    func sharing(pair: Pair) async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Conformance/cases/models")
        let model = try String(contentsOf: folder.appending(path: "rules.graphql"), encoding: .utf8)
        let api = try await APIHarness(model: model)
        let query = "subscription { onCreatePerson { name salary } }"
        let sinks = [
            await api.subscribe(query, as: pair.one).sink, await api.subscribe(query, as: pair.other).sink,
        ]
        let made = try await api.run(
            "mutation { createPerson(input: {name: \"Eve\", salary: 7}) { id } }",
            as: Self.token("root", session: "0", groups: ["admins"])
        )
        #expect(made["errors"] == nil, "\(made.serializedString())")
        var responses: [SharedResponse] = []
        for sink in sinks { responses += await sink.takeResponses(1) }
        try #require(responses.count == 2)
        // Both are alive, so that equal addresses are the same bytes.
        let addresses = responses.map { response in
            response.body.withUnsafeBufferPointer { $0.baseAddress.map { UInt(bitPattern: $0) } }
        }
        #expect((addresses[0] == addresses[1]) == pair.shares)
        for (caller, response) in zip([pair.one, pair.other], responses) {
            let isAdmin = caller.values(of: AccessRule.groupClaim).contains("admins")
            let person = try JSONParser.parse(response.body)["data"]?["onCreatePerson"]
            #expect(person?["name"] == "Eve" && person?["salary"] == (isAdmin ? 7 : .null))
        }
    }
}
