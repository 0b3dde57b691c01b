public import JSON

/// What a client asks to run; a class, because everything that has to do with it shares the one there is.
public final class GraphQLRequest: Sendable {
    /// The document's text; empty when the request names a document instead.
    public let query: String
    /// The variables' values as sent.
    public let variables: JSONObject
    /// Which operation of the document to run; needed when there are several.
    public let operationName: String?
    /// Whatever else the client sent.
    public let extensions: JSONObject
    /// The name of a document that the server knows (GraphQL over HTTP, appendix "Persisted Documents").
    public let documentID: String?

    /// A request of these parts.
    public init(
        query: String,
        variables: JSONObject = [:],
        operationName: String? = nil,
        extensions: JSONObject = [:],
        documentID: String? = nil
    ) {
        self.query = query
        self.variables = variables
        self.operationName = operationName
        self.extensions = extensions
        self.documentID = documentID
    }
}

extension GraphQLRequest: Hashable {
    /// Whether both ask for the same.
    public static func == (left: GraphQLRequest, right: GraphQLRequest) -> Bool {
        left.query == right.query && left.variables == right.variables && left.operationName == right.operationName
            && left.extensions == right.extensions && left.documentID == right.documentID
    }

    /// Feeds what is asked for to the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(query)
        hasher.combine(variables)
        hasher.combine(operationName)
        hasher.combine(extensions)
        hasher.combine(documentID)
    }
}

/// What one request may ask of us before anything is run.
public struct GraphQLRequestLimits: Sendable, Hashable {
    /// Limits of the JSON the request comes in.
    public var json: JSONLimits
    /// How many values, inner ones counted, the variables may hold.
    public var maximumVariableValues: Int
    /// The longest name of a document, in bytes.
    public static let maximumDocumentIDBytes = 256

    /// Limits with defaults that survive a hostile sender.
    public init(
        json: JSONLimits = JSONLimits(maximumValues: 4000),
        maximumVariableValues: Int = 1000
    ) {
        self.json = json
        self.maximumVariableValues = maximumVariableValues
    }
}

/// Why something sent is no GraphQL request; the client's fault.
public struct RequestFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was wrong and what to do, as sentences for the client.
    public let message: String

    /// The message.
    public var description: String { message }

    /// A fault with this message.
    public init(_ message: String) { self.message = message }
}
