import JSON

/// A socket, by default of `graphql-transport-ws`, that shows every message and the code it is
/// closed with (RFC 6455 §5).
final class RawSocket {
    enum Event: Equatable {
        case message(JSONValue)
        case close(code: Int, reason: String)
        /// The connection ended without a close frame.
        case end
    }

    private let connection: RawConnection

    /// Opens the socket, and says `connection_init` with the token if there is one.
    convenience init(_ installation: Installation, token: String?) async throws {
        try await self.init(port: installation.server?.port ?? 0, token: token)
    }

    /// The same, on a server at this port.
    convenience init(port: Int, token: String?) async throws {
        try await self.init(port: port, path: "/graphql", subprotocols: "graphql-transport-ws")
        if let token {
            try send(["type": "connection_init", "payload": ["Authorization": .string("Bearer \(token)")]])
        }
    }

    /// Opens a socket that has said nothing yet.
    convenience init(_ installation: Installation, path: String, subprotocols: String) async throws {
        try await self.init(port: installation.server?.port ?? 0, path: path, subprotocols: subprotocols)
    }

    /// Opens a socket that has said nothing yet; with a small window the system takes little for
    /// it while it does not read.
    init(port: Int, path: String, subprotocols: String, hasSmallWindow: Bool = false) async throws {
        let connection = try RawConnection(port: port, hasSmallWindow: hasSmallWindow)
        self.connection = connection
        try connection.send(
            "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + "Sec-WebSocket-Protocol: \(subprotocols)\r\n\r\n"
        )
        let head = try await eventually("the server upgrades") { () -> String? in
            connection.look()
            let end: [UInt8] = [13, 10, 13, 10]
            guard let range = connection.received.firstRange(of: end) else {
                if connection.isAtEnd { throw HarnessFailure("The server closed before it upgraded.") }
                return nil
            }
            let head = String(decoding: connection.received[..<range.lowerBound], as: UTF8.self)
            connection.drop(range.upperBound)
            return head
        }
        guard head.hasPrefix("HTTP/1.1 101 ") else { throw HarnessFailure("No upgrade: \(head)") }
    }

    func send(_ message: JSONValue) throws { try send(text: message.serialized()) }

    /// Sends a text frame; its mask is of zeros, which leave the text as it is.
    func send(text: [UInt8]) throws {
        var frame: [UInt8] = [0x81]
        if text.count < 126 {
            frame.append(0x80 | UInt8(text.count))
        } else {
            frame += [0x80 | 126, UInt8(truncatingIfNeeded: text.count >> 8), UInt8(truncatingIfNeeded: text.count)]
        }
        try connection.send(frame + [0, 0, 0, 0] + text)
    }

    /// The next message or the close; control frames besides are passed over.
    func next(withinSeconds seconds: Double = Patience.seconds) async throws -> Event {
        try await eventually("the socket says something", withinSeconds: seconds) { try look() }
    }

    /// The next message or the close, if there is one already.
    func look() throws -> Event? {
        connection.look()
        while let (opcode, payload) = frame() {
            switch opcode {
            case 0x1: return .message(try JSONParser.parse(payload))
            case 0x8:
                guard payload.count >= 2 else { return .close(code: 1005, reason: "") }
                let reason = String(decoding: payload.dropFirst(2), as: UTF8.self)
                return .close(code: Int(payload[0]) << 8 | Int(payload[1]), reason: reason)
            default: continue
            }
        }
        return connection.isAtEnd ? .end : nil
    }

    /// Reads until the close and gives its code; messages on the way are passed over.
    func untilClosed(withinSeconds seconds: Double = Patience.seconds) async throws -> Int {
        while true {
            switch try await next(withinSeconds: seconds) {
            case .message: continue
            case .close(let code, _): return code
            case .end: throw HarnessFailure("The socket ended without a close frame.")
            }
        }
    }

    /// Waits until the server has taken the connection: who subscribes before
    /// that is closed with 4401.
    func untilReady() async throws {
        guard try await isAcknowledged() else { throw HarnessFailure("The socket is not ready.") }
    }

    /// Whether the next message says that the server has taken the connection.
    func isAcknowledged() async throws -> Bool { try await type(of: next()) == "connection_ack" }

    /// Starts a subscription and waits until the server has confirmed it.
    func subscribe(_ document: String) async throws {
        try await untilReady()
        try send(["id": "1", "type": "subscribe", "payload": ["query": .string(document)]])
        try send(["type": "ping"])
        let answer = try await next()
        guard type(of: answer) == "pong" else { throw HarnessFailure("The subscription is not live: \(answer)") }
    }

    private func type(of event: Event) -> String? {
        guard case .message(let message) = event else { return nil }
        return message["type"]?.stringValue
    }

    /// Takes one whole frame off what was received; servers do not mask theirs.
    private func frame() -> (opcode: UInt8, payload: [UInt8])? {
        let bytes = connection.received
        guard bytes.count >= 2 else { return nil }
        var start = 2
        var length = Int(bytes[1] & 0x7F)
        if length >= 126 {
            start += length == 126 ? 2 : 8
            guard bytes.count >= start else { return nil }
            length = bytes[2..<start].reduce(0) { $0 << 8 | Int($1) }
        }
        guard bytes.count >= start + length else { return nil }
        let payload = Array(bytes[start..<start + length])
        connection.drop(start + length)
        return (bytes[0] & 0xF, payload)
    }
}
