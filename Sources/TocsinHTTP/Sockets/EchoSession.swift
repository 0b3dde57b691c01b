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
