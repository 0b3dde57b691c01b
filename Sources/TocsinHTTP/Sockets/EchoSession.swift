import GraphQLTransport

/// Sends back every message as it came, so that protocol suites can judge the socket.
struct EchoSession: SocketSession {
    mutating func handle(_ event: SessionEvent) -> [SessionAction] {
        switch event {
        case .text(let bytes): [.send(SocketMessage(prefix: bytes))]
        case .binary(let bytes): [.sendBinary(bytes)]
        case .pingFrame(let payload): [.pongFrame(payload)]
        case .shutdown: [.close(.goingAway, "The server is stopping")]
        default: []
        }
    }
}

/// A service for servers that only echo: it knows nobody and runs nothing.
struct NoService: GraphQLService {
    func authenticate(_ credentials: Credentials) async -> AuthenticationOutcome<Never> {
        .refused(message: "This server only echoes WebSocket messages.")
    }

    func expiry(of caller: Never) -> Int64? {}

    func operation(of request: GraphQLRequest, caller: Never, style: ResponseStyle) -> OperationLookup {}

    func execute(_ request: GraphQLRequest, caller: Never, style: ResponseStyle) async -> GraphQLReply {}

    func subscribe(
        _ request: GraphQLRequest,
        caller: Never,
        options: SubscribeOptions,
        sink: any ResponseSink
    ) async -> SubscribeOutcome {}
}
