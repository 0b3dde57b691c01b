/// The media types a response can have (GraphQL over HTTP §4).
public enum ResponseMediaType: Sendable, Hashable, CaseIterable {
    /// `application/json`, as all clients know it.
    case json
    /// `application/graphql-response+json`, whose status codes can be trusted.
    case graphQLResponse

    /// The value of `Content-Type`.
    public var contentType: String {
        switch self {
        case .json: "application/json; charset=utf-8"
        case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
        }
    }

    /// How errors are written for those who ask for this type.
    public var style: ResponseStyle {
        switch self {
        case .json: .appSync
        case .graphQLResponse: .standard
        }
    }

    /// The type for a request's `Accept`; `nil` when none of ours will do.
    ///
    /// No header and wildcards mean `application/json`. Among types named with equal weight the one with the better
    /// status codes is taken.
    public static func negotiated(accept: String?) -> ResponseMediaType? {
        guard let accept, !accept.allSatisfy({ $0 == " " || $0 == "," }) else { return .json }
        let ranges = accept.split(separator: ",").compactMap(MediaRange.init)
        let graphQL = weight(of: "graphql-response+json", in: ranges)
        let json = weight(of: "json", in: ranges)
        switch (graphQL.weight > 0, json.weight > 0) {
        case (false, false): return nil
        case (true, false): return .graphQLResponse
        case (false, true): return .json
        case (true, true):
            if graphQL.weight != json.weight { return graphQL.weight > json.weight ? .graphQLResponse : .json }
            return graphQL.isNamed ? .graphQLResponse : .json
        }
    }

    /// What the most specific range that covers the type says of it (RFC 9110 §12.5.1).
    private static func weight(of subtype: String, in ranges: [MediaRange]) -> (weight: Int, isNamed: Bool) {
        let covering = ranges.filter { $0.covers(subtype) }
        guard let best = covering.max(by: { $0.specificity < $1.specificity }) else { return (0, false) }
        return (best.weight, best.specificity == 2)
    }
}

/// One element of `Accept`.
private struct MediaRange {
    let type: Substring
    let subtype: Substring
    /// In thousandths.
    var weight = 1000
    private var isUTF8 = true

    /// 0 for `*/*`, 1 for `application/*`, 2 for a type with its name.
    var specificity: Int { type == "*" ? 0 : subtype == "*" ? 1 : 2 }

    init?(_ text: Substring) {
        let mediaType = MediaType(text)
        guard let mediaType else { return nil }
        type = mediaType.type
        subtype = mediaType.subtype
        for (name, value) in mediaType.parameters {
            if name == "q" {
                guard let number = Double(value), (0...1).contains(number) else { return nil }
                weight = Int(number * 1000)
            } else if name == "charset" {
                isUTF8 = value == "utf-8" || value == "utf8"
            }
        }
    }

    func covers(_ subtype: String) -> Bool {
        guard isUTF8 else { return false }
        return type == "*" || type == "application" && (self.subtype == "*" || self.subtype == subtype)
    }
}

/// A media type with its parameters, everything in lower case (RFC 9110 §8.3.1).
struct MediaType {
    let type: Substring
    let subtype: Substring
    let parameters: [(name: Substring, value: Substring)]

    init?(_ text: some StringProtocol) {
        let parts = text.lowercased().split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
        let names = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, !names[0].isEmpty, !names[1].isEmpty else { return nil }
        type = names[0]
        subtype = names[1]
        parameters = parts.dropFirst().compactMap { part in
            let sides = part.split(separator: "=", maxSplits: 1).map(Self.trimmed)
            guard sides.count == 2 else { return nil }
            return (sides[0], Self.unquoted(sides[1]))
        }
    }

    private static func unquoted(_ text: Substring) -> Substring {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return text }
        return text.dropFirst().dropLast()
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
