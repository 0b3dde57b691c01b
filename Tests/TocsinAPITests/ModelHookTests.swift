import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

/// What a hook does to the writes of its model, as clients see it.
@Suite("Hooks of models")
struct ModelHookTests {
    /// Notes lose the exclamation marks in their names, none is called `no`, and `kept` stays.
    private struct NameHook: ModelHook {
        let model = "Note"

        func willCreate(_ input: inout RecordInput, _ write: HookedWrite) throws(StoreError) -> ServiceError? {
            guard let name = input["name"]?.text else { return nil }
            input["name"] = .text(name.replacing("!", with: ""))
            return name == "no" ? .badInput("No note is called no.") : nil
        }

        func willUpdate(
            _ record: inout Record,
            was stored: Record,
            _ write: HookedWrite
        ) throws(StoreError) -> ServiceError? {
            let name = record["name"].text ?? ""
            record["name"] = .text(name.replacing("!", with: ""))
            return name == "no" ? .badInput("No note is called no; this one is \(stored["name"].text ?? "").") : nil
        }

        func willDelete(_ stored: Record, _ write: HookedWrite) throws(StoreError) -> ServiceError? {
            stored["name"].text == "kept" ? .badInput("This note stays.") : nil
        }
    }

    private struct Scene {
        let api: APIHarness

        init() async throws {
            let model = """
                type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! }
                type Message @model @auth(rules: [{ allow: owner }]) {
                  id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime! topicId: ID!
                }
                type Note @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! }
                """
            api = try await APIHarness(model: model, hooks: [NameHook()])
        }

        func create(_ name: String) async throws -> JSONValue {
            try await api.run("mutation { createNote(input: { name: \"\(name)\" }) { id name } }")
        }

        func notes() async throws -> [String] {
            let found = try await api.run("{ listNotes { items { name _version _deleted } } }")
            let items = found["data"]?["listNotes"]?["items"]?.arrayValue ?? []
            return items.filter { $0["_deleted"] != true }.map {
                "\($0["name"]?.stringValue ?? "") \($0["_version"]?.intValue ?? 0)"
            }
        }
    }

    private static func refusal(_ answer: JSONValue) -> String? { answer["errors"]?[0]?["message"]?.stringValue }

    @Test("a hook changes what is created and updated, and its refusal is told and leaves nothing behind")
    func writes() async throws {
        let scene = try await Scene()
        let (live, outcome) = await scene.api.subscribe("subscription { onCreateNote { name } }")
        guard case .stream = outcome else {
            Issue.record("There is no stream.")
            return
        }
        #expect(Self.refusal(try await scene.create("no"))?.contains("No note is called no.") == true)
        #expect(try await scene.notes() == [])
        let made = try await scene.create("a!")
        #expect(made["data"]?["createNote"]?["name"] == "a", "\(made)")
        #expect(try await live.take(1).first?["data"]?["onCreateNote"]?["name"] == "a")
        let id = made["data"]?["createNote"]?["id"]?.stringValue ?? ""
        func update(_ name: String, _ version: Int) async throws -> JSONValue {
            let input = "{ id: \"\(id)\", name: \"\(name)\", _version: \(version) }"
            return try await scene.api.run("mutation { updateNote(input: \(input)) { name } }")
        }
        #expect(Self.refusal(try await update("no", 1))?.contains("this one is a") == true)
        #expect(try await scene.notes() == ["a 1"])
        #expect(try await update("b!", 1)["data"]?["updateNote"]?["name"] == "b")
        #expect(try await scene.notes() == ["b 2"])
    }

    @Test("a hook keeps what is not to be deleted, and who may not delete learns nothing of it")
    func deletes() async throws {
        let scene = try await Scene()
        for name in ["kept", "other"] {
            let made = try await scene.create(name)
            let id = made["data"]?["createNote"]?["id"]?.stringValue ?? "\(made)"
            let delete = "mutation { deleteNote(input: { id: \"\(id)\", _version: 1 }) { id } }"
            let foreign = try await scene.api.run(delete, as: APIHarness.identity("bob"))
            #expect(foreign["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(foreign)")
            let answer = try await scene.api.run(delete)
            #expect(Self.refusal(answer)?.contains("This note stays.") == (name == "kept" ? true : nil), "\(answer)")
        }
        #expect(try await scene.notes() == ["kept 1"])
    }
}
