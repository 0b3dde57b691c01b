public import GraphQL

/// The answer to a query, a mutation, or a request that cannot run.
public struct GraphQLReply: Sendable, Hashable {
    /// How far the request came.
    public enum Kind: Sendable, Hashable {
        /// It ran: the response has data, and maybe errors of fields.
        case executed
        /// It did not parse, validate, name its operation or give proper variables:
        /// the response has no data.
        case requestError
        /// It could not be served now.
        case unavailable
        /// The caller asks too often.
        case tooManyRequests(retryAfterSeconds: Int)
    }

    /// How far the request came.
    public var kind: Kind
    /// The complete response object in JSON.
    public var body: [UInt8]
    /// What kind of operation ran, where one was found.
    public var operationKind: OperationKind?
    /// Ids of what the request was about, for logs, by the names that logs give them.
    ///
    /// Clients may have given the ids: whoever writes them down bounds their length.
    public var subjects: [String: String]

    /// A reply of these parts.
    public init(
        kind: Kind,
        body: [UInt8],
        operationKind: OperationKind? = nil,
        subjects: [String: String] = [:]
    ) {
        self.kind = kind
        self.body = body
        self.operationKind = operationKind
        self.subjects = subjects
    }
}

/// How a response, above all its errors, is written.
public enum ResponseStyle: Sendable, Hashable {
    /// As AppSync's clients read it: `application/json`.
    case appSync
    /// As the specification says: `application/graphql-response+json` and the sockets
    /// of `graphql-transport-ws`.
    case standard
}
