import JSON
import TocsinClient

/// Rows that a command names by a word or their id, and that have keys: integrations and monitors.
struct KeyedRows: Sendable {
    /// What one is called.
    let noun: String
    /// Finds rows by the variable of this name.
    let byWord: (variable: String, field: String, document: String)
    /// Shows the row of `id`, with so many of its last facts as the variable says.
    let show: (variable: String, field: String, document: String)
    let key: (field: String, document: String)
    let deleteDocument: String
    /// What is said of a word that several rows have.
    let several: @Sendable (String) -> String

    /// The id of the row of this word or id.
    func id(of text: String, _ client: TocsinClient) async throws -> String {
        let found = try await client.query(byWord.document, variables: [byWord.variable: .string(text)])
        let ids = (found[byWord.field]?["items"]?.arrayValue ?? [])
            .filter { $0["_deleted"]?.boolValue != true }.compactMap { $0["id"]?.stringValue }
        guard ids.count <= 1 else { throw CommandFailure(several(Terminal.harmless(text))) }
        return ids.first ?? text
    }

    /// The row of this word or id.
    func shown(_ text: String, last count: Int, _ client: TocsinClient) async throws -> JSONValue {
        let id = try await id(of: text, client)
        let variables: JSONObject = ["id": .string(id), show.variable: .int(Int64(count))]
        let answer = try await client.query(show.document, variables: variables)
        guard let found = answer[show.field], found != .null, found["_deleted"]?.boolValue != true else {
            throw CommandFailure(
                "There is no \(noun) \(Terminal.harmless(text)) of yours. `tocsin \(noun) list` shows all."
            )
        }
        return found
    }

    /// Makes a new key and tells it, with what to paste where.
    func rotateKey(of id: JSONValue?, overlap: Int, json: Bool, _ client: TocsinClient) async throws {
        let variables: JSONObject = ["id": id ?? .null, "overlap": .int(Int64(overlap))]
        let made = try await client.mutate(key.document, variables: variables)[key.field] ?? .null
        guard !json else { return Terminal.print(made.serializedString()) }
        Terminal.print("key\t\(made["key"]?.stringValue ?? "")")
        Terminal.print("url\t\(made["url"]?.stringValue ?? "")")
        let snippets = made["snippets"]?.stringValue.flatMap { try? JSONParser.parse($0) }?.objectValue ?? [:]
        for snippet in snippets {
            Terminal.print("\n\(Terminal.harmless(snippet.key)):")
            Terminal.print(Terminal.harmless(snippet.value.stringValue ?? ""))
        }
        Terminal.remark("the key is shown now and never again")
    }

    /// Deletes the row of this word or id; tells the member of it that people know.
    func delete(_ text: String, telling member: String, _ client: TocsinClient) async throws {
        let shown = try await shown(text, last: 1, client)
        let input: JSONObject = ["id": shown["id"] ?? .null, "_version": shown["_version"] ?? .null]
        _ = try await client.mutate(deleteDocument, variables: ["input": .object(input)])
        Terminal.print("deleted \(Terminal.harmless(shown[member]?.stringValue ?? ""))")
    }

    /// Tells facts of a row, a line each; those that it has not are left out.
    static func tell(_ facts: [String], of shown: JSONValue) {
        for name in facts {
            guard let value = shown[name], value != .null else { continue }
            Terminal.print("\(name)\t\(Terminal.harmless(value.stringValue ?? value.serializedString()))")
        }
    }
}
