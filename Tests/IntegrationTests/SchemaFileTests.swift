import Foundation
import JSON
import Testing
import TocsinClient

@Suite("A schema of one's own", .timeLimit(.minutes(5)))
struct SchemaFileTests {
    private static let messages = """
        query($filter: ModelMessageFilterInput) { listMessages(filter: $filter) { items { title severity } } }
        """

    @Test("a field added to the file can be created, read and filtered by, on data from before")
    func addedField() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            _ = try await client.publish(topic: "alerts", title: "before")
            installation.options += ["--schema", try Self.schemaWithSeverity(in: installation.folder)]
            try await installation.restartServer()

            for (title, severity) in [("grave", "high"), ("slight", "low")] {
                let input: JSONValue = [
                    "topicId": .string(scene.topicID), "type": 1, "title": .string(title), "body": "",
                    "severity": .string(severity),
                ]
                let create = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { number severity } }"
                let answer = try await installation.curl(create, ["i": input], token: scene.ada)
                #expect(answer["data"]?["createMessage"]?["severity"] == .string(severity), "\(answer)")
            }
            let all = try await Self.messages([:], scene)
            let expected: Set<JSONValue> = [
                ["title": "before", "severity": nil], ["title": "grave", "severity": "high"],
                ["title": "slight", "severity": "low"],
            ]
            #expect(Set(all) == expected, "\(all)")
            #expect(try await Self.messages(["severity": ["eq": "high"]], scene) == [expected.grave])
            let others = try await Self.messages(["not": ["severity": ["eq": "high"]]], scene)
            #expect(!others.contains(expected.grave) && others.count >= 1, "\(others)")

            // It is still there after the next start.
            try await installation.restartServer()
            #expect(try await Self.messages(["severity": ["beginsWith": "hi"]], scene) == [expected.grave])
        }
    }

    @Test("a schema file with a mistake stops the start with its line and what is wrong")
    func mistake() async throws {
        try await Installation.run { installation in
            let path = installation.folder + "/wrong.graphql"
            try "type Topic @model {\n  id: ID!\n  name: Strin\n}\n".write(
                toFile: path,
                atomically: true,
                encoding: .utf8
            )
            let result = try await installation.tocsin(
                ["serve", "--port", "0", "--data-dir", installation.folder + "/other", "--schema", path],
                token: "none"
            )
            #expect(result.status == 1)
            #expect(result.errors.contains("Strin"), "\(result.errors)")
            #expect(result.errors.contains("3"), "\(result.errors)")
        }
    }

    private static func messages(_ filter: JSONObject, _ scene: Scene) async throws -> [JSONValue] {
        let variables: JSONObject = filter.isEmpty ? [:] : ["filter": .object(filter)]
        let answer = try await scene.installation.curl(messages, variables, token: scene.ada)
        guard let items = answer["data"]?["listMessages"]?["items"]?.arrayValue else {
            throw HarnessFailure("listMessages: \(answer)")
        }
        return items
    }

    /// The schema that ships, with a line more.
    private static func schemaWithSeverity(in folder: String) throws -> String {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let shipped = try String(contentsOf: package.appendingPathComponent("schema/model.graphql"), encoding: .utf8)
        let line = "  body: String!\n"
        try #require(shipped.contains(line))
        let path = folder + "/model.graphql"
        try shipped.replacing(line, with: line + "  severity: String\n")
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}

extension Set<JSONValue> {
    /// The message whose title is "grave".
    fileprivate var grave: JSONValue { first { $0["title"] == "grave" } ?? .null }
}
