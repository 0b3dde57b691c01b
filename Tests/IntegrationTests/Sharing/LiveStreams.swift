import JSON

/// What carries events to a client (docs/live-feed.md).
enum LiveTransport: CaseIterable {
    case transportWS, appSync, eventStream
}

/// The subscriptions of one caller over one transport, and what each of them has heard.
///
/// All of a socket's are asked for at once, so that many cost no more waiting than one.
final class LiveStreams {
    private struct Heard {
        var isLive = false
        var refusal: JSONValue?
        var events: [JSONValue] = []
    }

    let transport: LiveTransport
    private let installation: Installation
    private let token: String
    /// Nil for event streams, each of which has a connection of its own.
    private let socket: RawSocket?
    private var streams: [String: RawStream] = [:]
    private var heard: [String: Heard] = [:]

    init(_ transport: LiveTransport, _ installation: Installation, token: String) async throws {
        (self.transport, self.installation, self.token) = (transport, installation, token)
        switch transport {
        case .transportWS:
            let socket = try await RawSocket(installation, token: token)
            try await socket.untilReady()
            self.socket = socket
        case .appSync:
            let path = AppSyncWords.path(token)
            let socket = try await RawSocket(installation, path: path, subprotocols: AppSyncWords.subprotocol)
            try socket.send(["type": "connection_init"])
            self.socket = socket
        case .eventStream:
            socket = nil
        }
    }

    /// Asks for a subscription; `untilSettled` waits for what becomes of it.
    func subscribe(_ id: String, _ document: String) throws {
        heard[id] = Heard()
        switch transport {
        case .transportWS:
            try socket?.send(["id": .string(id), "type": "subscribe", "payload": ["query": .string(document)]])
        case .appSync: try socket?.send(AppSyncWords.start(id, document, token: token))
        case .eventStream: streams[id] = try RawStream(installation, token: token, document)
        }
    }

    /// Waits until each subscription is live or refused.
    func untilSettled() async throws {
        if transport == .transportWS { try socket?.send(["type": "ping"]) }
        try await eventually("each subscription over \(transport) is live or refused") {
            try look()
            return heard.values.allSatisfy { $0.isLive || $0.refusal != nil }
        }
    }

    /// The errors with which a subscription was refused, or has ended.
    func refusal(of id: String) -> JSONValue? { heard[id]?.refusal }

    /// Waits until a subscription is refused, or has ended, and gives its errors.
    func untilRefused(_ id: String) async throws -> JSONValue {
        try await eventually("\(id) over \(transport) is refused") {
            try look()
            return heard[id]?.refusal
        }
    }

    /// What a subscription has heard so far.
    func events(of id: String) throws -> [JSONValue] {
        try look()
        return heard[id]?.events ?? []
    }

    /// Waits until a subscription has heard such an event, and gives what came before that.
    func events(of id: String, before isLast: (JSONValue) -> Bool) async throws -> [JSONValue] {
        try await eventually("\(id) has heard it over \(transport)") {
            let events = try events(of: id)
            return events.firstIndex(where: isLast).map { Array(events[..<$0]) }
        }
    }

    private func look() throws {
        while let event = try socket?.look() { try take(event) }
        for (id, stream) in streams {
            let responses = try stream.responses()
            heard[id] = Heard(
                isLive: stream.isLive,
                refusal: responses.compactMap { $0["errors"] }.first,
                events: responses.compactMap { $0["data"] }
            )
        }
    }

    private func take(_ event: RawSocket.Event) throws {
        guard case .message(let message) = event else { throw HarnessFailure("The socket has ended: \(event)") }
        let (type, payload) = (message["type"]?.stringValue, message["payload"])
        // The answer to a ping comes when all subscriptions before it are live or refused.
        if type == "pong" { for id in heard.keys { heard[id]?.isLive = true } }
        guard let id = message["id"]?.stringValue else { return }
        switch type {
        case "start_ack": heard[id]?.isLive = true
        case "next", "data": heard[id]?.events.append(payload?["data"] ?? .null)
        case "error": heard[id]?.refusal = payload?["errors"] ?? payload
        default: break
        }
    }
}
