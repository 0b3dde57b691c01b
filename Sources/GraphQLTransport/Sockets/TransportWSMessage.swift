import JSON

/// The messages of `graphql-transport-ws`, spelled once for server and client.
enum TransportWSMessage {
    /// The subprotocol's name.
    static let subprotocol = "graphql-transport-ws"

    /// The values of `type`.
    enum Kind: String {
        case connectionInit = "connection_init"
        case connectionAck = "connection_ack"
        case ping
        case pong
        case subscribe
        case next
        case error
        case complete
    }

    /// `{"type":…}`, with the payload where there is one.
    static func message(_ kind: Kind, payload: JSONObject? = nil) -> SocketMessage {
        var message: JSONObject = ["type": .string(kind.rawValue)]
        if let payload { message["payload"] = .object(payload) }
        return SocketMessage(prefix: JSONValue.object(message).serialized())
    }

    /// `{"id":…,"type":…}`.
    static func message(_ kind: Kind, id: String) -> SocketMessage {
        SocketMessage(prefix: head(kind, id: id) + [UInt8(ascii: "}")])
    }

    /// `{"id":…,"type":…,"payload":…}` around a payload that is JSON already.
    static func message(_ kind: Kind, id: String, payload: [UInt8]) -> SocketMessage {
        SocketMessage(prefix: payloadHead(kind, id: id), shared: payload, suffix: [UInt8(ascii: "}")])
    }

    /// A whole `subscribe`.
    static func subscribe(id: String, _ request: GraphQLRequest) -> [UInt8] {
        var payload: JSONObject = [:]
        if let id = request.documentID { payload["documentId"] = .string(id) }
        // A request that names its document need not have its text.
        if !request.query.isEmpty || request.documentID == nil { payload["query"] = .string(request.query) }
        if !request.variables.isEmpty { payload["variables"] = .object(request.variables) }
        if let name = request.operationName { payload["operationName"] = .string(name) }
        if !request.extensions.isEmpty { payload["extensions"] = .object(request.extensions) }
        return message(.subscribe, id: id, payload: JSONValue.object(payload).serialized()).bytes
    }

    /// What comes before the payload.
    static func payloadHead(_ kind: Kind, id: String) -> [UInt8] {
        head(kind, id: id) + Array(#","payload":"#.utf8)
    }

    private static func head(_ kind: Kind, id: String) -> [UInt8] {
        var writer = JSONWriter(capacity: id.utf8.count + 48)
        writer.raw(#"{"id":"#)
        writer.string(id)
        writer.raw(#","type":"#)
        writer.string(kind.rawValue)
        return writer.bytes
    }
}
