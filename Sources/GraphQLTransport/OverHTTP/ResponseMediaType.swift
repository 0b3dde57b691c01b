/// The media types a complete response can have (GraphQL over HTTP §4).
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
}

/// What a client takes, as its `Accept` says it (RFC 9110 §12.5.1).
struct AcceptedTypes: Sendable, Hashable {
    /// How complete responses travel; `nil` when none of their types will do.
    let mediaType: ResponseMediaType?
    /// For what events may be streamed.
    let eventStream: EventStreamUse

    /// No header and wildcards mean `application/json`.
    ///
    /// Among types of equal weight the one with the better status codes is taken. Events are
    /// streamed only to clients that name their type.
    init(_ accept: String?) {
        // What most clients send is not taken apart each time.
        switch accept {
        case nil, "*/*", "application/json":
            (mediaType, eventStream) = (.json, .none)
            return
        case "application/graphql-response+json":
            (mediaType, eventStream) = (.graphQLResponse, .none)
            return
        default: break
        }
        guard let accept, !accept.allSatisfy({ $0 == " " || $0 == "," }) else {
            (mediaType, eventStream) = (.json, .none)
            return
        }
        let ranges = accept.split(separator: ",").compactMap(MediaRange.init)
        let graphQL = Self.weight(of: ("application", "graphql-response+json"), in: ranges)
        let json = Self.weight(of: ("application", "json"), in: ranges)
        let events = Self.weight(of: ("text", "event-stream"), in: ranges)
        mediaType = Self.choice(graphQL, json)
        guard events.isNamed, events.weight > 0 else {
            eventStream = .none
            return
        }
        eventStream = events.weight > max(graphQL.weight, json.weight) ? .always : .subscriptions
    }

    private typealias Weight = (weight: Int, isNamed: Bool)

    private static func choice(_ graphQL: Weight, _ json: Weight) -> ResponseMediaType? {
        switch (graphQL.weight > 0, json.weight > 0) {
        case (false, false): return nil
        case (true, false): return .graphQLResponse
        case (false, true): return .json
        case (true, true):
            if graphQL.weight != json.weight { return graphQL.weight > json.weight ? .graphQLResponse : .json }
            return graphQL.isNamed ? .graphQLResponse : .json
        }
    }

    /// What the most specific range that covers the type says of it.
    private static func weight(of type: (type: String, subtype: String), in ranges: [MediaRange]) -> Weight {
        let covering = ranges.filter { $0.covers(type.type, type.subtype) }
        guard let best = covering.max(by: { $0.specificity < $1.specificity }) else { return (0, false) }
        return (best.weight, best.specificity == 2)
    }
}

/// What a client takes as a stream of server-sent events.
public enum EventStreamUse: Sendable, Hashable {
    /// Nothing.
    case none
    /// Subscriptions; queries and mutations are answered with one complete response.
    case subscriptions
    /// Everything.
    case always
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

    func covers(_ type: String, _ subtype: String) -> Bool {
        guard isUTF8 else { return false }
        return self.type == "*" || self.type == type && (self.subtype == "*" || self.subtype == subtype)
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
