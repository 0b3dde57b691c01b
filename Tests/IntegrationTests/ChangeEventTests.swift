import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Changes of all models over sockets", .timeLimit(.minutes(5)))
struct ChangeEventTests {
    private static let secret = "a shared secret of more than 32 bytes, for tests"
    private static let models = """
        type Topic @model @auth(rules: [{ allow: owner }]) {
          id: ID!
          name: String! @index(name: "byName", queryField: "getTopicByName")
          arn: String!
          level: Int
        }
        type Message @model @auth(rules: [{ allow: owner }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID!
          level: Int
        }
        type Note @model @auth(rules: [{ allow: owner }]) {
          id: ID!
          level: Int
        }
        type Plan @model @auth(rules: [{ allow: groups, groupsField: "team" }]) {
          id: ID!
          team: String
          level: Int
        }
        type Wall @model @auth(rules: [{ allow: owner }, { allow: groups, groups: ["red"] }]) {
          id: ID!
          level: Int
        }

        """

    private static func token(_ name: String, group: String, _ installation: Installation) async throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let claims: JSONObject = [
            "iss": "https://sign-in.example.com/pool", "aud": "the-app", "sub": .string("sub-\(name)"),
            "username": .string(name), "iat": .int(now), "exp": .int(now + 600), "cognito:groups": [.string(group)],
        ]
        return try await SharedSecret.token(claims, secret: secret, folder: installation.folder)
    }

    private static func run(_ body: (Installation) async throws -> Void) async throws {
        try await Installation.run { installation in
            let path = installation.folder + "/models.graphql"
            try models.write(toFile: path, atomically: true, encoding: .utf8)
            installation.options += ["--schema", path]
            installation.environment["TOCSIN_JWT_ISSUER"] = "https://sign-in.example.com/pool"
            installation.environment["TOCSIN_JWT_AUDIENCE"] = "the-app"
            installation.environment["TOCSIN_JWT_HS256_SECRET"] = secret
        } _: { installation in
            try await body(installation)
        }
    }

    /// Makes a record, changes it twice and deletes it; answers its id.
    private static func stir(_ model: String, _ input: JSONObject, _ client: TocsinClient) async throws -> String {
        func run(_ verb: String, _ input: JSONObject) async throws -> JSONValue? {
            let operation = verb.lowercased() + model
            let document = "mutation($i: \(verb)\(model)Input!) { \(operation)(input: $i) { id _version } }"
            return try await client.query(document, variables: ["i": .object(input)])[operation]
        }
        var input = input
        input["level"] = 1
        guard let id = try await run("Create", input)?["id"] else { throw HarnessFailure("Nothing was created.") }
        _ = try await run("Update", ["id": id, "level": 9, "_version": 1])
        _ = try await run("Update", ["id": id, "level": 3, "_version": 2])
        _ = try await run("Delete", ["id": id, "_version": 3])
        return id.stringValue ?? ""
    }

    private struct Listeners {
        let updates: Listener
        let filtered: Listener
        let deletions: Listener

        init(_ model: String, _ client: TocsinClient) async throws {
            let update = "onUpdate\(model)"
            updates = Listener(client, "subscription { \(update) { id level } }", field: update)
            let filter = "(filter: { level: { gt: 5 } })"
            filtered = Listener(client, "subscription { \(update)\(filter) { id level } }", field: update)
            let delete = "onDelete\(model)"
            deletions = Listener(client, "subscription { \(delete) { id level _deleted } }", field: delete)
            for listener in [updates, filtered, deletions] { try await listener.untilLive() }
        }

        /// The deletion comes last.
        func expectOnly(_ ids: [String], _ model: String) async throws {
            try await eventually("the deletion of each \(model)") { deletions.events.count >= ids.count }
            try await eventually("the updates of each \(model)") { updates.events.count >= 2 * ids.count }
            try await eventually("the filtered updates") { filtered.events.count >= ids.count }
            let changes = ids.flatMap { [[$0, "9"], [$0, "3"]] }
            #expect(updates.events.map(Self.brief) == changes, "\(model)")
            #expect(filtered.events.map(Self.brief) == ids.map { [$0, "9"] }, "\(model)")
            #expect(deletions.events.map(Self.brief) == ids.map { [$0, "3"] }, "\(model)")
            #expect(deletions.events.allSatisfy { $0["_deleted"] == true }, "\(model)")
            for listener in [updates, filtered, deletions] { listener.stop() }
        }

        private static func brief(_ event: JSONValue) -> [String] {
            [event["id"]?.stringValue ?? "", event["level"]?.intValue.map { "\($0)" } ?? ""]
        }
    }

    @Test("updates and deletions come to owner and group, past filters, in order, and to nobody else")
    func changes() async throws {
        try await Self.run { installation in
            let ada = try installation.makeClient(token: try await Self.token("ada", group: "red", installation))
            let bob = try installation.makeClient(token: try await Self.token("bob", group: "blue", installation))
            let adasTopic = try await ada.makeTopic(named: "adas")
            let bobsTopic = try await bob.makeTopic(named: "bobs")
            for model in ["Topic", "Message", "Note", "Plan", "Wall"] {
                let (adas, bobs) = (try await Listeners(model, ada), try await Listeners(model, bob))
                func input(_ topic: String, _ team: String) -> JSONObject {
                    switch model {
                    case "Topic": ["name": .string("new-" + team)]
                    case "Message": ["type": 1, "title": "t", "body": "b", "topicId": .string(topic)]
                    case "Plan": ["team": .string(team)]
                    default: [:]
                    }
                }
                let first = try await Self.stir(model, input(adasTopic, "red"), ada)
                let second = try await Self.stir(model, input(bobsTopic, "blue"), bob)
                // The red group may read every wall.
                try await adas.expectOnly(model == "Wall" ? [first, second] : [first], model)
                try await bobs.expectOnly([second], model)
            }
        }
    }
}
