import JSON

/// The messages of AppSync's real-time protocol, spelled once (AppSync: building a
/// real-time WebSocket client).
enum AppSyncMessage {
    /// The subprotocol's name; the messages are AppSync's own.
    static let subprotocol = "graphql-ws"

    /// The values of `type`.
    enum Kind: String {
        case connectionInit = "connection_init"
        case connectionAck = "connection_ack"
        case connectionError = "connection_error"
        case start
        case startAck = "start_ack"
        case data
        case error
        case stop
        case complete
        case keepAlive = "ka"
    }

    /// The `errorType`s that only this protocol has.
    enum Fault: String {
        case noProtocol = "NoProtocolError"
        case badRequest = "BadRequestException"
        case unauthorized = "UnauthorizedException"
        case unsupported = "UnsupportedOperation"
        case tooManySubscriptions = "MaxSubscriptionsReachedError"
        case unavailable = "InternalFailure"
    }

    /// `{"type":"connection_ack",…}`; a client without the time would come again at once, for ever.
    static func acknowledgement(timeoutMilliseconds: Int) -> SocketMessage {
        message([
            "type": .string(Kind.connectionAck.rawValue),
            "payload": ["connectionTimeoutMs": .int(Int64(timeoutMilliseconds))],
        ])
    }

    /// `{"type":"ka"}`.
    static var keepAlive: SocketMessage { message(["type": .string(Kind.keepAlive.rawValue)]) }

    /// `{"id":…,"type":…}`.
    static func message(_ kind: Kind, id: String) -> SocketMessage {
        message(["id": .string(id), "type": .string(kind.rawValue)])
    }

    /// `{"id":…,"type":"data","payload":`, what comes before a response.
    static func dataHead(id: String) -> [UInt8] {
        Array(message(.data, id: id).prefix.dropLast()) + Array(#","payload":"#.utf8)
    }

    /// The refusal of a connection.
    static func connectionError(_ fault: Fault, _ message: String, code: Int) -> SocketMessage {
        let error: JSONObject = [
            "errorType": .string(fault.rawValue), "message": .string(message), "errorCode": .int(Int64(code)),
        ]
        return self.message([
            "type": .string(Kind.connectionError.rawValue), "payload": ["errors": .array([.object(error)])],
        ])
    }

    /// The refusal or the end of one operation.
    static func error(id: String, _ fault: Fault, _ message: String) -> SocketMessage {
        error(id: id, [["errorType": .string(fault.rawValue), "message": .string(message)]])
    }

    /// The refusal or the end of one operation, with errors as the service
    /// writes them: a JSON array.
    static func error(id: String, errors: [UInt8]) -> SocketMessage {
        guard case .array(let errors)? = ErrorBody.parsed(errors), !errors.isEmpty else {
            return error(id: id, .unavailable, "The subscription could not be served.")
        }
        return error(id: id, errors.map(shaped))
    }

    /// Some clients take no notice of an error without an `errorType`, and all read `message`.
    private static func shaped(_ error: JSONValue) -> JSONValue {
        let code = error["extensions"]?["code"]?.stringValue.flatMap(ErrorCode.init) ?? .badRequest
        let type = error["errorType"]?.stringValue ?? code.realtimeErrorType
        let message = error["message"]?.stringValue ?? "The subscription could not be served."
        var shaped: JSONObject = ["errorType": .string(type), "message": .string(message)]
        // Where to go on from: these clients read no other member of the extensions.
        let cursors = ["cursor", "oldestCursor"].compactMap { name in error["extensions"]?[name].map { (name, $0) } }
        if !cursors.isEmpty { shaped["extensions"] = .object(JSONObject([("code", .string(code.rawValue))] + cursors)) }
        return .object(shaped)
    }

    private static func error(id: String, _ errors: [JSONValue]) -> SocketMessage {
        message([
            "id": .string(id), "type": .string(Kind.error.rawValue), "payload": ["errors": .array(errors)],
        ])
    }

    private static func message(_ object: JSONObject) -> SocketMessage {
        SocketMessage(prefix: JSONValue.object(object).serialized())
    }
}
