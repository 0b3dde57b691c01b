import JSON
import TocsinClient

extension TocsinClient {
    /// Asks for page after page of a list until there is no more; the document takes `$next`.
    ///
    /// What was deleted, and is still told to those who sync, is left out.
    func forEachItem(of field: String, _ document: String, _ body: (JSONValue) -> Void) async throws {
        var next = JSONValue.null
        repeat {
            let page = try await query(document, variables: ["next": next])[field]
            for item in page?["items"]?.arrayValue ?? [] where item["_deleted"]?.boolValue != true { body(item) }
            next = page?["nextToken"] ?? .null
        } while next != .null
    }
}
