import JSON
import TocsinClient
import TocsinServer

extension IntegrationCommand {
    /// Tells a new key and what to paste where.
    static func tell(_ made: JSONValue, json: Bool) {
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

    /// An integration on one line.
    static func line(_ item: JSONValue) -> String {
        let words = [
            item["id"]?.stringValue ?? "-", item["kind"]?.stringValue ?? "", item["name"]?.stringValue ?? "",
            item["events"]?.serializedString() ?? "0", item["lastEventAt"]?.stringValue ?? "-",
            item["keyHint"]?.stringValue ?? "-",
        ]
        return words.map(Terminal.harmless).joined(separator: "\t")
    }

    /// The id of an integration that is named by its name or id.
    static func id(of text: String, _ client: TocsinClient) async throws -> String {
        let found = try await client.query(byNameDocument, variables: ["name": .string(text)])
        let ids = (found["integrationsByName"]?["items"]?.arrayValue ?? [])
            .filter { $0["_deleted"]?.boolValue != true }.compactMap { $0["id"]?.stringValue }
        guard ids.count <= 1 else {
            throw CommandFailure(
                "There are several integrations named \(Terminal.harmless(text)). Give the id; `tocsin integration list` "
                    + "shows all."
            )
        }
        return ids.first ?? text
    }

    static func shown(_ text: String, recent: Int, _ client: TocsinClient) async throws -> JSONValue {
        let id = try await id(of: text, client)
        let answer = try await client.query(
            showDocument,
            variables: ["id": .string(id), "recent": .int(Int64(recent))]
        )
        guard let found = answer["getIntegration"], found != .null, found["_deleted"]?.boolValue != true else {
            throw CommandFailure(
                "There is no integration \(Terminal.harmless(text)) of yours. `tocsin integration list` shows all."
            )
        }
        return found
    }

    static func text(of path: String) throws -> String {
        do throws(SystemFile.Failure) {
            return try SystemFile.text(of: path)
        } catch {
            throw CommandFailure("\(path) cannot be read: \(error.reason).")
        }
    }
}
