import NIOCore

/// One frame as it came.
struct RawFrame: Equatable {
    let opcode: UInt8
    let payload: [UInt8]

    var text: String { String(decoding: payload, as: UTF8.self) }

    /// The code of a close frame; 0 when it has none.
    var closeCode: Int {
        guard opcode == 8, payload.count >= 2 else { return 0 }
        return Int(payload[0]) << 8 | Int(payload[1])
    }

    var closeReason: String { String(decoding: payload.dropFirst(2), as: UTF8.self) }
}

extension RawClient {
    static let initMessage = #"{"type":"connection_init","payload":{"Authorization":"Bearer good"}}"#

    /// Asks for a socket.
    func requestUpgrade(path: String = "/graphql", subprotocol: String = "graphql-transport-ws", fields: String = "") {
        send(
            "GET \(path) HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + "Sec-WebSocket-Protocol: \(subprotocol)\r\n\(fields)\r\n"
        )
    }

    /// Opens a socket.
    func upgrade(
        path: String = "/graphql",
        subprotocol: String = "graphql-transport-ws",
        fields: String = ""
    ) async throws -> RawResponse {
        requestUpgrade(path: path, subprotocol: subprotocol, fields: fields)
        return try await response()
    }

    /// Opens a socket and is acknowledged.
    func openSession(token: String = "good") async throws {
        _ = try await upgrade()
        sendText("{\"type\":\"connection_init\",\"payload\":{\"Authorization\":\"Bearer \(token)\"}}")
        var ack = try await frame()
        while ack.opcode == 9 { ack = try await frame() }
        guard ack.text.contains("connection_ack") else { throw Closed(seen: ack.text) }
    }

    func sendText(_ text: String) { sendFrame(0x81, Array(text.utf8)) }

    func subscribe(_ id: String, _ query: String) {
        sendText("{\"id\":\"\(id)\",\"type\":\"subscribe\",\"payload\":{\"query\":\"\(query)\"}}")
    }

    /// A frame with this first byte, masked unless told otherwise.
    func sendFrame(_ first: UInt8, _ payload: [UInt8], isMasked: Bool = true) {
        var bytes = [first]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ...125: bytes.append(mask | UInt8(payload.count))
        case ...65535: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes.append(mask | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        if isMasked {
            let key: [UInt8] = [1, 2, 3, 4]
            bytes += key
            bytes += payload.enumerated().map { $1 ^ key[$0 % 4] }
        } else {
            bytes += payload
        }
        send(bytes)
    }

    /// The text of the next frame that is no ping: on a busy machine the server asks who is there.
    func text() async throws -> String {
        while true {
            let frame = try await frame()
            if frame.opcode != 9 { return frame.text }
        }
    }

    /// The next frame.
    func frame() async throws -> RawFrame {
        let head = try await read(2)
        var length = Int(head[1] & 0x7F)
        if length >= 126 {
            length = try await read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
        }
        return RawFrame(opcode: head[0] & 0x0F, payload: try await read(length))
    }

    /// The close frame, after whatever comes before.
    func closeFrame() async throws -> RawFrame {
        while true {
            let frame = try await frame()
            if frame.opcode == 8 { return frame }
        }
    }
}
