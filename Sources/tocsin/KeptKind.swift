import JSON
import TocsinClient

/// A kind of thing that users keep at a running server: commands add, list, show and remove it.
struct KeptKind: Sendable {
    /// Its type in the schema, such as `Digest`.
    let type: String
    /// What people call one.
    let name: String
    /// The fields that commands print.
    let fields: String
    /// One of them on a line.
    let line: @Sendable (JSONValue) -> String

    /// What the commands send, for servers that run trusted documents only.
    var documents: [String] { [addDocument, listDocument, showDocument, removeDocument] }

    private var addDocument: String {
        "mutation Add\(type)($input: Create\(type)Input!) { create\(type)(input: $input) { \(fields) } }"
    }
    private var listDocument: String {
        "query List\(type)s($next: String) { list\(type)s(limit: 100, nextToken: $next) { nextToken items { \(fields) } } }"
    }
    private var showDocument: String { "query Show\(type)($id: ID!) { get\(type)(id: $id) { \(fields) } }" }
    private var removeDocument: String {
        "mutation Remove\(type)($id: ID!) { delete\(type)(input: {id: $id}) { id } }"
    }

    /// Makes one and prints it.
    func add(_ input: JSONObject, _ client: TocsinClient, json: Bool) async throws {
        let answer = try await client.mutate(addDocument, variables: ["input": .object(input)])
        print(answer["create\(type)"] ?? .null, json: json)
    }

    /// Prints all of the user's.
    func list(_ client: TocsinClient, json: Bool) async throws {
        try await client.forEachItem(of: "list\(type)s", listDocument) { print($0, json: json) }
    }

    /// Prints one as JSON.
    func show(_ id: String, _ client: TocsinClient) async throws {
        let found = try await client.query(showDocument, variables: ["id": .string(id)])["get\(type)"]
        guard let found, found != .null else { throw isNotThere(id) }
        print(found, json: true)
    }

    /// Removes one and says so.
    func remove(_ id: String, _ client: TocsinClient) async throws {
        do throws(ClientError) {
            _ = try await client.mutate(removeDocument, variables: ["id": .string(id)])
        } catch {
            guard error.code == .unauthorized else { throw error }
            throw isNotThere(id)
        }
        Terminal.print("removed \(Terminal.harmless(id))")
    }

    private func print(_ item: JSONValue, json: Bool) { Terminal.print(json ? item.serializedString() : line(item)) }

    private func isNotThere(_ id: String) -> CommandFailure {
        CommandFailure("There is no \(name) \(Terminal.harmless(id)), or it is not yours.")
    }
}
