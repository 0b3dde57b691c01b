import Foundation
import JSON

/// A request of a sender, as the tests of receivers have recorded it.
struct RecordedPost {
    let method: String
    let headers: [(name: String, value: String)]
    let body: String

    /// The key in recorded requests.
    private static let key = "abcdefghijklmnopqrstuvwxyz234567"

    init(path: String) throws {
        let contents = try JSONParser.parse(String(contentsOfFile: path, encoding: .utf8))
        let request = contents["request"]
        method = request?["method"]?.stringValue ?? "POST"
        if let list = request?["headers"]?.arrayValue {
            headers = list.map { ($0[0]?.stringValue ?? "", $0[1]?.stringValue ?? "") }
        } else {
            headers = (request?["headers"]?.objectValue ?? [:]).map { ($0.key, $0.value.stringValue ?? "") }
        }
        let text = request?["text"]?.stringValue ?? request?["body"]?.stringValue
        body = text ?? request?["body"]?.serializedString() ?? ""
    }

    /// Posts it with this key, which stands in the header only where the path has none.
    func send(
        to path: String,
        key: String,
        method named: String? = nil,
        _ installation: Installation
    ) async throws -> HTTPAnswer {
        var fields = headers.filter { !["authorization", "x-gotify-key", "x-api-key"].contains($0.name.lowercased()) }
            .flatMap { ["--header", "\($0.name): \($0.value)"] }
        if !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            fields += ["--header", "Content-Type: application/json"]
        }
        if !path.contains(key) { fields += ["--header", "Authorization: Bearer \(key)"] }
        let file = installation.folder + "/" + UUID().uuidString + ".body"
        try body.replacing(Self.key, with: key).write(toFile: file, atomically: true, encoding: .utf8)
        return try await installation.http(
            path,
            fields + ["--request", named ?? method, "--data-binary", "@" + file]
        )
    }
}
