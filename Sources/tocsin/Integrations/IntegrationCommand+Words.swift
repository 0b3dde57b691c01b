import JSON
import TocsinClient
import TocsinServer

extension IntegrationCommand {
    /// Integrations, by name or id.
    static let rows = KeyedRows(
        noun: "integration",
        byWord: ("name", "integrationsByName", byNameDocument),
        show: ("recent", "getIntegration", showDocument),
        key: ("rotateIntegrationKey", keyDocument),
        deleteDocument: deleteDocument
    ) {
        "There are several integrations named \($0). Give the id; `tocsin integration list` shows all."
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

    static func text(of path: String) throws -> String {
        do throws(SystemFile.Failure) {
            return try SystemFile.text(of: path)
        } catch {
            throw CommandFailure("\(path) cannot be read: \(error.reason).")
        }
    }
}
