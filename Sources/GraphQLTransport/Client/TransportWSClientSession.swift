public import JSON

/// The client's side of `graphql-transport-ws` as a pure state machine: events in, actions out.
public struct TransportWSClientSession: Sendable {
    /// The subprotocol to offer in the upgrade.
    public static let subprotocol = TransportWSMessage.subprotocol

    /// What can happen.
    public enum Event: Sendable, Hashable {
        /// The socket is open; comes first, once.
        case opened
        /// A whole text message came.
        case text([UInt8])
        /// A whole binary message came.
        case binary
        /// The application wants to run an operation under an id of its own that
        /// no running operation has.
        case subscribe(id: String, GraphQLRequest)
        /// The application no longer wants an operation.
        case complete(id: String)
        /// The application wants to know whether the server is there, or to show it what is in the
        /// payload.
        case ping(payload: JSONObject?)
        /// The socket was closed by the peer or the network; nothing comes after it.
        case closed(code: UInt16?, reason: String)
    }

    /// What to do.
    public enum Action: Sendable, Hashable {
        /// Send a text message.
        case send([UInt8])
        /// Close the socket; the last action ever.
        case close(code: UInt16, reason: String)
        /// Tell the application that the server has accepted the credentials.
        case connected(payload: JSONObject)
        /// Tell the application of a response to its operation.
        case next(id: String, response: JSONObject)
        /// Tell the application that its operation failed and has ended.
        case failed(id: String, errors: [JSONValue])
        /// Tell the application that its operation has ended.
        case completed(id: String)
        /// Tell the application that its operation ended because the socket
        /// did; it may be run again.
        case interrupted(id: String)
        /// Tell the application that the server answered a ping, and with what.
        case alive(payload: JSONObject)
    }

    private enum Phase {
        case idle, initialising, ready, closed
    }

    private let credentials: Credentials
    private let limits: JSONLimits
    private var phase = Phase.idle
    private var running: Set<String> = []
    /// Asked for before the server has accepted us, in order.
    private var waiting: [(id: String, request: GraphQLRequest)] = []

    /// A session that has not begun.
    ///
    /// The server's messages are read within `limits`.
    public init(credentials: Credentials, limits: JSONLimits = JSONLimits(maximumBytes: 8_388_608)) {
        self.credentials = credentials
        self.limits = limits
    }

    /// Takes what happened and says what to do, in order.
    public mutating func handle(_ event: Event) -> [Action] {
        if case .closed = phase { return [] }
        switch event {
        case .opened:
            phase = .initialising
            return [.send(initMessage)]
        case .text(let bytes): return received(bytes)
        case .binary: return close(.unsupportedData, "Binary messages are not part of the protocol")
        case .subscribe(let id, let request): return subscribe(id, request)
        case .complete(let id): return complete(id)
        case .ping(let payload): return [.send(TransportWSMessage.message(.ping, payload: payload).bytes)]
        case .closed:
            phase = .closed
            return interruptions()
        }
    }

    private var initMessage: [UInt8] {
        var payload: JSONObject = [:]
        if let token = credentials.authorization { payload["Authorization"] = .string("Bearer \(token)") }
        if let key = credentials.apiKey { payload["x-api-key"] = .string(key) }
        return TransportWSMessage.message(.connectionInit, payload: payload.isEmpty ? nil : payload).bytes
    }

    private mutating func subscribe(_ id: String, _ request: GraphQLRequest) -> [Action] {
        running.insert(id)
        guard case .ready = phase else {
            waiting.append((id, request))
            return []
        }
        return [.send(TransportWSMessage.subscribe(id: id, request))]
    }

    private mutating func complete(_ id: String) -> [Action] {
        guard running.remove(id) != nil else { return [] }
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index)
            return []
        }
        return [.send(TransportWSMessage.message(.complete, id: id).bytes)]
    }

    private mutating func close(_ code: SocketCloseCode, _ reason: String) -> [Action] {
        phase = .closed
        return interruptions() + [.close(code: code.rawValue, reason: SocketCloseCode.reason(reason))]
    }

    private mutating func interruptions() -> [Action] {
        let ids = running.sorted()
        running = []
        waiting = []
        return ids.map { .interrupted(id: $0) }
    }
}

// What the server sends.
extension TransportWSClientSession {
    private mutating func received(_ bytes: [UInt8]) -> [Action] {
        guard let message = try? JSONParser.parse(bytes, limits: limits), case .object(let object) = message,
            let type = object["type"]?.stringValue
        else {
            return close(.badRequest, "Invalid message: it must be a JSON object with a type")
        }
        switch TransportWSMessage.Kind(rawValue: type) {
        case .connectionAck: return acknowledged(object)
        case .ping: return [.send(TransportWSMessage.message(.pong, payload: object["payload"]?.objectValue).bytes)]
        case .pong: return [.alive(payload: object["payload"]?.objectValue ?? [:])]
        case .next: return next(object)
        case .error: return failed(object)
        case .complete:
            guard let id = object["id"]?.stringValue else { return closeForID() }
            return running.remove(id) == nil ? [] : [.completed(id: id)]
        case .connectionInit, .subscribe, nil:
            return close(.badRequest, "Invalid message: the type \"\(type)\" is not sent by servers")
        }
    }

    private mutating func acknowledged(_ message: JSONObject) -> [Action] {
        guard case .initialising = phase else {
            return close(.badRequest, "Invalid message: a second acknowledgement")
        }
        phase = .ready
        let held = waiting
        waiting = []
        let payload = message["payload"]?.objectValue ?? [:]
        return [.connected(payload: payload)] + held.map { .send(TransportWSMessage.subscribe(id: $0.id, $0.request)) }
    }

    private mutating func next(_ message: JSONObject) -> [Action] {
        guard let id = message["id"]?.stringValue else { return closeForID() }
        guard case .object(let response)? = message["payload"] else {
            return close(.badRequest, "Invalid message: \"payload\" must be an object")
        }
        // Responses on their way while we completed the operation are dropped.
        return running.contains(id) ? [.next(id: id, response: response)] : []
    }

    private mutating func failed(_ message: JSONObject) -> [Action] {
        guard let id = message["id"]?.stringValue else { return closeForID() }
        guard case .array(let errors)? = message["payload"] else {
            return close(.badRequest, "Invalid message: \"payload\" must be an array of errors")
        }
        return running.remove(id) == nil ? [] : [.failed(id: id, errors: errors)]
    }

    private mutating func closeForID() -> [Action] {
        close(.badRequest, "Invalid message: \"id\" must be a string")
    }
}
