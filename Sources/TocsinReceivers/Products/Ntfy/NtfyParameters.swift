import JSON

/// The parameters of a request: of its JSON, its headers, its query.
struct NtfyParameters {
    private let request: ReceiverRequest
    private let json: JSONObject?

    init(_ request: ReceiverRequest, json: JSONObject?) { (self.request, self.json) = (request, json) }

    /// The first of these names that is there and not empty: among headers, then in the query.
    func value(_ names: String...) -> String? { value(names) }

    /// As `value`, but a member of the JSON goes first.
    func value(json member: String, _ names: String...) -> String? {
        json?.filled(member).flatMap(Self.clean) ?? value(names)
    }

    /// A member of the JSON that is more than a text.
    func member(_ name: String) -> JSONValue? { json?[name].flatMap { $0.isNull ? nil : $0 } }

    private func value(_ names: [String]) -> String? {
        for name in names {
            // RFC 9218 has a header `Priority` of its own, which browsers send.
            if let text = request.header(name), !(name == "Priority" && Self.isOfBrowser(text)) {
                if let text = Self.clean(EncodedWords.decoded(text)) { return text }
            }
        }
        for name in names {
            let name = name.lowercased()
            for item in request.query where item.name.lowercased() == name {
                if let text = Self.clean(item.value) { return text }
            }
        }
        return nil
    }

    /// As it is stored, so that the answer says what was taken; nil: nothing is left.
    private static func clean(_ text: String) -> String? {
        let text = text.withoutControls.trimmed
        return text.isEmpty ? nil : text
    }

    private static func isOfBrowser(_ text: String) -> Bool { text.hasPrefix("u=") || text == "i" }
}
