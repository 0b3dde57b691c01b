import JSON

/// What curl printed of an answer: its head and its body.
struct HTTPAnswer {
    let status: Int
    let body: String
    private let head: [Substring]

    init(_ text: String) throws {
        // Swift takes CR LF for one character.
        var parts = text.replacing("\r\n", with: "\n").split(separator: "\n\n", maxSplits: 1)
        // "100 Continue" comes with a head of its own.
        while parts.count == 2, parts[0].hasPrefix("HTTP/1.1 1") {
            parts = parts[1].split(separator: "\n\n", maxSplits: 1)
        }
        guard let head = parts.first?.split(separator: "\n"), let statusLine = head.first,
            let status = statusLine.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw HarnessFailure("This is no HTTP answer: \(text)") }
        self.head = Array(head.dropFirst())
        self.status = status
        body = parts.count == 2 ? String(parts[1]) : ""
    }

    var json: JSONValue {
        get throws { try JSONParser.parse(body) }
    }

    /// The cookies that it sets, each as `name=value`.
    var cookies: [String] {
        head.filter { $0.lowercased().hasPrefix("set-cookie:") }.map { line in
            String(line.dropFirst("set-cookie:".count).drop { $0 == " " }.prefix { $0 != ";" })
        }
    }

    /// The field's value, by its name in lower case.
    func header(_ name: String) -> String? {
        for line in head {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name else { continue }
            return String(parts[1].drop { $0 == " " })
        }
        return nil
    }
}

extension JSONValue {
    /// The code of the first error of a GraphQL response.
    var errorCode: String? { self["errors"]?.arrayValue?.first?["extensions"]?["code"]?.stringValue }
}
