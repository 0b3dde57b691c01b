import JSON

/// The parameters of a request: of its JSON, its headers, its query.
struct NtfyParameters {
    private let request: ReceiverRequest
    private let json: JSONObject?

    init(_ request: ReceiverRequest, json: JSONObject?) { (self.request, self.json) = (request, json) }

    /// The first of these names that is there and not empty: among headers, then in the query.
    func value(_ names: String...) -> String? { value(names) }

    /// As `value`, but a member of the JSON goes first.
    func value(json member: String, _ names: String...) -> String? { json?.filled(member) ?? value(names) }

    /// A member of the JSON that is more than a text.
    func member(_ name: String) -> JSONValue? { json?[name].flatMap { $0.isNull ? nil : $0 } }

    private func value(_ names: [String]) -> String? {
        for name in names {
            // RFC 9218 has a header `Priority` of its own, which browsers send.
            if let text = request.header(name), !(name == "Priority" && Self.isOfBrowser(text)) {
                return EncodedWords.decoded(text)
            }
        }
        for name in names {
            let name = name.lowercased()
            if let item = request.query.first(where: { $0.name.lowercased() == name && !$0.value.trimmed.isEmpty }) {
                return item.value.trimmed
            }
        }
        return nil
    }

    private static func isOfBrowser(_ text: String) -> Bool { text.hasPrefix("u=") || text == "i" }
}
