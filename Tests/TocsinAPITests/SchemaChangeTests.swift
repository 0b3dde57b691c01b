import GraphQLTransport
import JSON
import TestDatabases
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("A schema that changes")
struct SchemaChangeTests {
    private static func model(_ extra: String = "", _ more: String = "") -> String {
        """
        type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! arn: String! }
        type Message @model @auth(rules: [{ allow: owner }]) {
          id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime! topicId: ID! \(extra)
        }
        \(more)
        """
    }

    /// Runs one installation after the other on the same database.
    private func withDatabase(_ body: (any SQLDatabase) async throws -> Void) async throws {
        try await body(try AnyDatabase.make())
    }

    private static let list =
        "query($f: ModelMessageFilterInput) { listMessages(filter: $f) { items { title severity } } }"

    @Test("a field added to a model is there after a restart: old rows lack it, new ones are filtered by it")
    func addsField() async throws {
        try await withDatabase { database in
            let before = try await APIHarness(model: Self.model(), database: database)
            let topic = try await before.makeTopic()
            try await before.publish("old", to: topic)
            await before.store.close()

            let after = try await APIHarness(model: Self.model("severity: String"), database: database)
            after.time.advance(seconds: 60)
            let made = try await after.publish("new", to: topic, with: ["id": "n", "severity": "high"])
            #expect(made["number"] == 2, "\(made.serializedString())")
            let all = try await after.run(Self.list)
            let expected: JSONValue = [
                ["title": "old", "severity": .null], ["title": "new", "severity": "high"],
            ]
            #expect(all["data"]?["listMessages"]?["items"] == expected)
            let high = try await after.run(Self.list, ["f": ["severity": ["eq": "high"]]])
            #expect(high["data"]?["listMessages"]?["items"] == [["title": "new", "severity": "high"]])
            let none = try await after.run(Self.list, ["f": ["severity": ["attributeExists": false]]])
            #expect(none["data"]?["listMessages"]?["items"] == [["title": "old", "severity": .null]])
            await after.store.close()

            let without = try await APIHarness(model: Self.model(), database: database)
            let titles = try await without.run("{ listMessages { items { title } } }")
            #expect(titles["data"]?["listMessages"]?["items"] == [["title": "old"], ["title": "new"]])
            await without.store.close()
        }
    }

    @Test("a field whose type changes is told as unreadable, and what was stored outlives changes of other fields")
    func changesType() async throws {
        func model(_ fields: String) -> String {
            Self.model("", "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! t: String \(fields) }")
        }
        let texts = model("a: String b: String c: String d: String")
        try await withDatabase { database in
            let before = try await APIHarness(model: texts, database: database)
            let input = #"id: "n", t: "old", a: "ten", b: "one", c: "0.5x", d: "yes""#
            _ = try await before.run("mutation { createNote(input: { \(input) }) { id } }")
            await before.store.close()

            let after = try await APIHarness(model: model("a: Int b: [String] c: Float d: Boolean"), database: database)
            for field in ["a", "c", "d"] {
                let read = try await after.run("{ getNote(id: \"n\") { \(field) } }")
                #expect(read["data"]?["getNote"] == [field: .null])
                #expect(read["errors"]?.arrayValue?.count == 1, "\(read.serializedString())")
            }
            let update = "mutation { updateNote(input: { id: \"n\", t: \"new\", _version: 1 }) { t _version } }"
            #expect(try await after.run(update) == ["data": ["updateNote": ["t": "new", "_version": 2]]])
            await after.store.close()

            let again = try await APIHarness(model: texts, database: database)
            let stored = try await again.run("{ getNote(id: \"n\") { t a b c d } }")
            let kept: JSONValue = ["t": "new", "a": "ten", "b": "one", "c": "0.5x", "d": "yes"]
            #expect(stored["data"]?["getNote"] == kept)
            await again.store.close()
        }
    }

    @Test("a field that becomes required is an error for the rows that lack it, and for them alone")
    func requiresField() async throws {
        try await withDatabase { database in
            let before = try await APIHarness(model: Self.model(), database: database)
            let topic = try await before.makeTopic()
            try await before.publish("old", to: topic)
            await before.store.close()

            let after = try await APIHarness(model: Self.model("severity: String!"), database: database)
            after.time.advance(seconds: 60)
            try await after.publish("new", to: topic, with: ["id": "n", "severity": "high"])
            let list = try await after.run("{ listMessages { items { title severity } } }", style: .appSync)
            #expect(list["data"]?["listMessages"]?["items"] == [.null, ["title": "new", "severity": "high"]])
            let message =
                "Cannot return null for non-nullable type: 'String' within parent 'Message' "
                + "(/listMessages/items[0]/severity)"
            let error = list["errors"]?[0]
            #expect(error?["message"] == .string(message))
            #expect(error?["path"] == ["listMessages", "items", 0, "severity"])
            #expect(error?["errorType"] == nil)
            await after.store.close()
        }
    }

    @Test("a model's indexes are made at start, kept at the next, and dropped when the schema drops them")
    func indexes() async throws {
        let note = """
            type Note @model @auth(rules: [{ allow: owner }]) {
              id: ID! text: String! @index(name: "byText", sortKeyFields: ["rank"], queryField: "notesByText") rank: Int!
            }
            """
        try await withDatabase { database in
            var made: [Int] = []
            // The first start makes those of the models that ship.
            for text in [Self.model(), Self.model("", note), Self.model("", note), Self.model(), Self.model("", note)] {
                let api = try await APIHarness(model: text, database: database)
                let models = api.schema.models
                made.append(
                    try await api.store.write { writer throws(StoreError) in
                        try writer.prepareIndexes(of: models).count
                    }
                )
                await api.store.close()
            }
            #expect(made.dropFirst() == [1, 0, 0, 1])
        }
    }
}
