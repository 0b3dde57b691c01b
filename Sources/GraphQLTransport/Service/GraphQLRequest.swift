public import JSON

/// What a client asks to run; a class, because everything that has to do with it
/// shares the one there is.
public final class GraphQLRequest: Sendable {
    /// The document's text; empty when the request names a document instead.
    public let query: String
    /// The variables' values as sent.
    public let variables: JSONObject
    /// Which operation of the document to run; needed when there are several.
    public let operationName: String?
    /// Whatever else the client sent.
    public let extensions: JSONObject
    /// The name of a document that the server knows (GraphQL over HTTP,
    /// appendix "Persisted Documents").
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

extension GraphQLRequest {
    /// Reads the body of a `POST` (GraphQL over HTTP §5.4) in any collection of bytes.
    public static func parse(
        body: some Collection<UInt8>,
        limits: GraphQLRequestLimits = GraphQLRequestLimits()
    ) throws(RequestFault) -> GraphQLRequest {
        let outcome = Array(body).withUnsafeBufferPointer { bytes in
            Result { () throws(RequestFault) in try parse(body: bytes, limits: limits) }
        }
        return try outcome.get()
    }

    /// Reads the body of a `POST` (GraphQL over HTTP §5.4).
    public static func parse(
        body: UnsafeBufferPointer<UInt8>,
        limits: GraphQLRequestLimits = GraphQLRequestLimits()
    ) throws(RequestFault) -> GraphQLRequest {
        guard !body.isEmpty else {
            throw RequestFault("The request has no body. Send a JSON object with a member \"query\".")
        }
        let value: JSONValue
        do {
            value = try JSONParser.parse(body, limits: limits.json)
        } catch {
            throw RequestFault("The request body is not JSON we accept: \(error).")
        }
        if case .array = value {
            throw RequestFault("The request body is an array. Send one JSON object; batches are not served.")
        }
        guard case .object(let object) = value else {
            throw RequestFault("The request body is not an object. Send a JSON object with a member \"query\".")
        }
        let request = try made(of: object)
        // A value takes two bytes at least, with what parts it from the next one.
        if body.count / 2 > limits.maximumVariableValues { try request.checkVariables(limits) }
        return request
    }

    /// Reads the members `query`, `documentId`, `variables`, `operationName` and
    /// `extensions`; others are ignored.
    ///
    /// `query` may be left out where `documentId` or
    /// `extensions.persistedQuery` names the document.
    public static func parse(
        _ object: JSONObject,
        limits: GraphQLRequestLimits = GraphQLRequestLimits()
    ) throws(RequestFault) -> GraphQLRequest {
        let request = try made(of: object)
        try request.checkVariables(limits)
        return request
    }

    private static func made(of object: JSONObject) throws(RequestFault) -> GraphQLRequest {
        let extensions = try map("extensions", of: object)
        let documentID = try documentID(of: object)
        let persistedQuery = try PersistedQueryReference(extensions: extensions)
        return GraphQLRequest(
            query: try text(of: object, isNeeded: documentID == nil && persistedQuery == nil),
            variables: try map("variables", of: object),
            operationName: try operationName(of: object),
            extensions: extensions,
            documentID: documentID
        )
    }

    private static func text(of object: JSONObject, isNeeded: Bool) throws(RequestFault) -> String {
        switch object["query"] {
        case .string(let text)?: return text
        case nil, .null?:
            guard isNeeded else { return "" }
            throw RequestFault("The request has no \"query\". Send the document's text as a string.")
        default: throw RequestFault("\"query\" is not a string. Send the document's text as a string.")
        }
    }

    private static func documentID(of object: JSONObject) throws(RequestFault) -> String? {
        switch object["documentId"] {
        case nil, .null?: return nil
        case .string(let id)?:
            guard !id.isEmpty else { return nil }
            guard id.utf8.count <= GraphQLRequestLimits.maximumDocumentIDBytes else {
                throw RequestFault(
                    "\"documentId\" is longer than \(GraphQLRequestLimits.maximumDocumentIDBytes) bytes."
                )
            }
            return id
        default: throw RequestFault("\"documentId\" is not a string. Send a string, null, or leave it out.")
        }
    }

    private static func operationName(of object: JSONObject) throws(RequestFault) -> String? {
        switch object["operationName"] {
        case nil, .null: return nil
        case .string(let name): return name.isEmpty ? nil : name
        default: throw RequestFault("\"operationName\" is not a string. Send a string, null, or leave it out.")
        }
    }

    private static func map(_ name: String, of object: JSONObject) throws(RequestFault) -> JSONObject {
        switch object[name] {
        case nil, .null: return [:]
        case .object(let members): return members
        default: throw RequestFault("\"\(name)\" is not an object. Send an object, null, or leave it out.")
        }
    }

    private func checkVariables(_ limits: GraphQLRequestLimits) throws(RequestFault) {
        let most = limits.maximumVariableValues
        guard Self.count(of: .object(variables), upTo: most + 1) <= most + 1 else {
            throw RequestFault("\"variables\" hold more than \(most) values. Send fewer in one request.")
        }
    }

    /// How many values there are, the outermost included; counting stops soon after `limit`.
    private static func count(of value: JSONValue, upTo limit: Int) -> Int {
        var total = 1
        switch value {
        case .array(let values):
            for value in values where total <= limit { total += count(of: value, upTo: limit - total) }
        case .object(let members):
            for member in members where total <= limit { total += count(of: member.value, upTo: limit - total) }
        default: break
        }
        return total
    }
}

extension GraphQLRequest {
    /// Reads the parameters of a `GET` (GraphQL over HTTP §5.3): the part of the target
    /// after the question mark.
    public static func parse(
        queryString: some StringProtocol,
        limits: GraphQLRequestLimits = GraphQLRequestLimits()
    ) throws(RequestFault) -> GraphQLRequest {
        var members: JSONObject = [:]
        for pair in queryString.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1] : pair[pair.endIndex...]
            guard let name = PercentEncoding.formText(parts[0]), let value = PercentEncoding.formText(value) else {
                throw RequestFault("The query parameters are not percent-encoded UTF-8.")
            }
            guard ["query", "documentId", "operationName", "variables", "extensions"].contains(name) else { continue }
            guard members[name] == nil else {
                throw RequestFault("The query parameter \"\(name)\" is given twice. Give it once.")
            }
            members[name] = try memberValue(name, value, limits)
        }
        return try parse(members, limits: limits)
    }

    private static func memberValue(
        _ name: String,
        _ text: String,
        _ limits: GraphQLRequestLimits
    ) throws(RequestFault) -> JSONValue {
        switch name {
        case "query", "documentId": return .string(text)
        case "operationName": return text.isEmpty ? .null : .string(text)
        default:
            if text.isEmpty { return .null }
            do {
                return try JSONParser.parse(text, limits: limits.json)
            } catch {
                throw RequestFault("The query parameter \"\(name)\" is not JSON we accept: \(error).")
            }
        }
    }
}
