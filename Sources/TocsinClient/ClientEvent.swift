/// Something that a client did by itself: codes and numbers, never texts or tokens.
public struct ClientEvent: Sendable, Hashable, CustomStringConvertible {
    /// What it did: `request.repeated`, `token.taken`, `token.failed`, or `socket.` and the
    /// connection's state.
    public let name: String
    /// The error behind it, where there is one.
    public let code: ClientError.Code?
    /// How often in a row.
    public let count: Int?

    init(_ name: String, _ code: ClientError.Code? = nil, count: Int? = nil) {
        (self.name, self.code, self.count) = (name, code, count)
    }

    /// All of it on one line.
    public var description: String {
        [name, code?.rawValue, count.map { String($0) }].compactMap(\.self).joined(separator: " ")
    }
}

extension ClientEvent {
    /// What became of the feeds' connection.
    init(_ change: SocketMachine.Change) {
        switch change {
        case .idle: self.init("socket.idle")
        case .connecting: self.init("socket.connecting")
        case .live: self.init("socket.live")
        case .paused: self.init("socket.paused")
        case .waiting(_, let error): self.init("socket.waiting", error.code)
        case .signedOut(let error): self.init("socket.signedOut", error.code)
        }
    }
}
