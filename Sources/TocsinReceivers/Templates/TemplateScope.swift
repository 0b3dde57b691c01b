package import JSON

/// What placeholders are looked up in while one request is read or answered.
package struct TemplateScope: Sendable {
    /// The data, or the sender's JSON.
    package var document: JSONValue = .null
    /// The list's item at hand.
    package var item: JSONValue = .null
    /// By name, without `$`.
    package var variables: JSONObject = [:]
    /// By the group's name and the name in it.
    package var groups: [String: [String: JSONValue]] = [:]
    /// The text that was sent.
    package var body = ""
    /// The SHA-256 of bytes.
    let sha256: @Sendable ([UInt8]) -> [UInt8]

    /// A scope with nothing in it.
    package init(sha256: @escaping @Sendable ([UInt8]) -> [UInt8]) { self.sha256 = sha256 }

    func value(of root: TemplatePlace.Root) -> JSONValue {
        switch root {
        case .document: document
        case .item: item
        case .variable(let name): variables[name] ?? .null
        case .group(let group, let name): groups[group]?[name] ?? .null
        case .body: .string(body)
        }
    }
}
