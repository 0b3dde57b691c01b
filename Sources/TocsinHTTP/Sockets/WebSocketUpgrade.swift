import GraphQLTransport
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The checks of an opening handshake (RFC 6455 §4.2.1) and its answer.
struct WebSocketUpgrade {
    let request: IncomingRequest
    let path: SocketPath
    let origins: CrossOrigin

    /// Whether the client wants to speak WebSocket from here on.
    static func isWanted(by request: IncomingRequest) -> Bool {
        guard request.fields.has(.upgrade) else { return false }
        return request.tokens("upgrade").contains("websocket")
    }

    /// Throws what is wrong with the handshake.
    func check() throws(HTTPRefusal) {
        guard request.method == .get, !request.head.isHTTP10, request.body.readableBytes == 0 else {
            throw HTTPRefusal(.badRequest, "A WebSocket is opened with GET in HTTP/1.1, without a body.", .badRequest)
        }
        guard request.tokens("connection").contains("upgrade") else {
            throw HTTPRefusal(.badRequest, "A WebSocket needs the header Connection: Upgrade.", .badRequest)
        }
        guard request.headers["sec-websocket-version"] == ["13"] else {
            throw HTTPRefusal(.upgradeRequired, "Only version 13 of WebSocket is spoken.", .badRequest)
        }
        let keys = request.headers["sec-websocket-key"]
        guard keys.count == 1, Self.isKey(keys[0]) else {
            throw HTTPRefusal(.badRequest, "Sec-WebSocket-Key must be 16 bytes in base64.", .badRequest)
        }
        guard origins.mayOpenSocket(request) || request.isFromOwnPage else {
            let message = "Pages of this origin may not open sockets. List it in the allowed origins."
            throw HTTPRefusal(.forbidden, message, .unauthorized)
        }
    }

    /// Whether a browser's session came along, whoever opens the socket.
    var hasSession: Bool {
        guard let cookies = request.head.connection.cookies else { return false }
        return request.cookie(cookies.name) != nil
    }

    /// The subprotocol both sides speak; the server's order counts.
    var subprotocol: SocketProtocol? {
        let offered = offeredProtocols
        return path.protocols.first { offered.contains($0.name) }
    }

    /// The session for the socket; without a common subprotocol the path's other one,
    /// or one that only closes.
    func makeSession(limits: SocketSessionLimits) -> any SocketSession {
        guard let subprotocol = subprotocol ?? path.otherwise else { return UnacceptableProtocolSession() }
        let opening = SocketOpening(
            queryString: request.queryString,
            offeredProtocols: offeredProtocols,
            credentials: credentials,
            limits: limits
        )
        return subprotocol.makeSession(opening)
    }

    /// What shows who opens the socket: a browser's session only where nothing else does.
    private var credentials: Credentials {
        var credentials = request.credentials
        guard credentials.isEmpty, let cookies = request.head.connection.cookies,
            case .shown(let secret) = cookies.evidence(ofUpgrade: request.fields)
        else { return credentials }
        credentials.cookie = secret
        return credentials
    }

    /// The bytes that answer the handshake.
    func acceptance(on channel: any Channel) -> EventLoopFuture<ByteBuffer> {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: request.path, headers: request.headers)
        let (name, id) = (subprotocol?.name, request.id)
        let handshake = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() }
        )
        return handshake.buildUpgradeResponse(channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
            .map { fields in
                var buffer = ByteBuffer(staticString: "HTTP/1.1 101 Switching Protocols\r\n")
                for field in fields { buffer.writeString("\(field.name): \(field.value)\r\n") }
                if let name { buffer.writeString("Sec-WebSocket-Protocol: \(name)\r\n") }
                buffer.writeStaticString(RequestID.header)
                buffer.writeString(": \(id)\r\n\r\n")
                return buffer
            }
    }

    private var offeredProtocols: [String] {
        request.headers[canonicalForm: "sec-websocket-protocol"].map(String.init)
    }

    /// 24 characters of base64 with two at the end for padding.
    private static func isKey(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        guard bytes.count == 24, bytes.suffix(2).allSatisfy({ $0 == UInt8(ascii: "=") }) else { return false }
        return bytes.dropLast(2).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}

/// The session of a client that offered no subprotocol we speak.
private struct UnacceptableProtocolSession: SocketSession {
    mutating func handle(_ event: SessionEvent) -> [SessionAction] {
        guard case .opened = event else { return [] }
        return [.close(.subprotocolNotAcceptable, "Subprotocol not acceptable")]
    }
}
