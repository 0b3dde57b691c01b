import JSON

/// What a server says on a `graphql-transport-ws` connection.
enum ServerMessage: Sendable, Hashable {
    case acknowledged
    case ping(payload: JSONValue?)
    case pong
    case next(id: String, payload: JSONValue)
    case error(id: String, errors: JSONValue)
    case complete(id: String)

    /// Reads a text message; `nil` when it is not of the protocol.
    init?(_ text: [UInt8], maximumBytes: Int) {
        let limits = JSONLimits(maximumBytes: maximumBytes, maximumDepth: 64, maximumValues: 1_000_000)
        guard let message = try? JSONParser.parse(text, limits: limits), let type = message["type"]?.stringValue else {
            return nil
        }
        switch (type, message["id"]?.stringValue, message["payload"]) {
        case ("connection_ack", _, _): self = .acknowledged
        case ("ping", _, let payload): self = .ping(payload: payload)
        case ("pong", _, _): self = .pong
        case ("next", let id?, let payload?): self = .next(id: id, payload: payload)
        case ("error", let id?, let errors?): self = .error(id: id, errors: errors)
        case ("complete", let id?, _): self = .complete(id: id)
        default: return nil
        }
    }
}

/// What a client says on a `graphql-transport-ws` connection.
enum ClientMessage: Sendable, Hashable {
    case initialise(token: String?)
    case ping
    case pong(payload: JSONValue?)
    case subscribe(id: String, query: String, variables: JSONObject)

    /// The subprotocol's name.
    static let subprotocol = "graphql-transport-ws"

    /// The text to send.
    var text: [UInt8] {
        var message: JSONObject
        switch self {
        case .initialise(let token):
            let payload: JSONObject = token.map { ["Authorization": .string("Bearer " + $0)] } ?? [:]
            message = ["type": "connection_init", "payload": .object(payload)]
        case .ping: message = ["type": "ping"]
        case .pong(let payload):
            message = ["type": "pong"]
            if let payload { message["payload"] = payload }
        case .subscribe(let id, let query, let variables):
            let payload: JSONValue = ["query": .string(query), "variables": .object(variables)]
            message = ["id": .string(id), "type": "subscribe", "payload": payload]
        }
        return JSONValue.object(message).serialized()
    }
}
