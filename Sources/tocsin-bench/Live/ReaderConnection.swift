import Foundation
import Glibc
import JSON

/// What `live-readers` is to open.
struct ReaderOrder {
    /// What is spoken before frames come.
    enum Kind: String {
        /// A GraphQL subscription over a WebSocket.
        case graphql
        /// A WebSocket.
        case webSocket
        /// Nothing.
        case raw
    }

    var kind: Kind
    var port: UInt16
    var token = ""
    /// Each socket follows one of them, in turn.
    var topics: [String] = []
    var count: Int
    /// Connections that stop reading once they are ready.
    var slow = 0

    init(_ kind: Kind, port: UInt16, count: Int) {
        (self.kind, self.port, self.count) = (kind, port, count)
    }

    init?(line: String) {
        guard let value = try? JSONParser.parse(line), let kind = value["kind"]?.stringValue.flatMap(Kind.init),
            let port = value["port"]?.intValue, let count = value["count"]?.intValue
        else { return nil }
        self.init(kind, port: UInt16(port), count: Int(count))
        token = value["token"]?.stringValue ?? ""
        topics = (value["topics"]?.arrayValue ?? []).compactMap(\.stringValue)
        slow = Int(value["slow"]?.intValue ?? 0)
    }

    var line: [UInt8] {
        let value: JSONValue = [
            "kind": .string(kind.rawValue), "port": .int(Int64(port)), "count": .int(Int64(count)),
            "token": .string(token), "topics": .array(topics.map { .string($0) }), "slow": .int(Int64(slow)),
        ]
        return value.serialized()
    }
}

/// One socket of the load generator, from its opening to its frames.
final class ReaderConnection {
    let descriptor: Int32
    let isSlow: Bool
    private(set) var isReady: Bool
    /// The server has said goodbye.
    private(set) var isCut = false
    private let order: ReaderOrder
    private let index: Int
    private var isUpgraded: Bool
    /// The beginning of a frame whose rest has not come.
    private var rest: [UInt8] = []

    static let query = "subscription($t: ID) { onCreateMessage(topicId: $t) { id number type title body createdAt } }"

    init(_ order: ReaderOrder, index: Int) throws {
        self.order = order
        self.index = index
        isSlow = index < order.slow
        isReady = order.kind == .raw
        isUpgraded = order.kind == .raw
        descriptor = try Self.connected(port: order.port, index: index, isSlow: isSlow)
        guard order.kind != .raw else { return }
        let subprotocol = order.kind == .graphql ? "Sec-WebSocket-Protocol: graphql-transport-ws\r\n" : ""
        let upgrade =
            "GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:\(order.port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(subprotocol)\r\n"
        send(Array(upgrade.utf8))
    }

    /// Several source addresses, so that no run lacks ports.
    private static func connected(port: UInt16, index: Int, isSlow: Bool) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw BenchFailure("no more sockets: raise the limit of open files (ulimit -n)") }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_IP), 24, &on, socklen_t(MemoryLayout<Int32>.size))
        var small: Int32 = 4096
        if isSlow { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &small, socklen_t(MemoryLayout<Int32>.size)) }
        var hard = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
        let from = UInt32(0x7F00_0002 + index % 8)
        guard Loopback.call(bind, descriptor, from, 0), Loopback.call(connect, descriptor, Loopback.host, port)
        else {
            throw BenchFailure("cannot connect socket \(index): \(String(cString: strerror(errno)))")
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return descriptor
    }

    /// Takes what came; `frame` is told the payload of each frame once the connection is ready.
    func received(_ bytes: UnsafeRawBufferPointer, frame: (UnsafeRawBufferPointer) -> Void) {
        guard rest.isEmpty else {
            rest += bytes
            let joined = rest
            rest = []
            return joined.withUnsafeBytes { parse($0, frame) }
        }
        parse(bytes, frame)
    }

    private func parse(_ bytes: UnsafeRawBufferPointer, _ frame: (UnsafeRawBufferPointer) -> Void) {
        var offset = 0
        if !isUpgraded {
            guard let end = bytes.end(of: "\r\n\r\n") else {
                rest = Array(bytes)
                return
            }
            offset = end
            isUpgraded = true
            if order.kind == .graphql {
                sendText(["type": "connection_init", "payload": ["authorization": .string("Bearer " + order.token)]])
            } else {
                isReady = true
            }
        }
        while bytes.count - offset >= 2 {
            var (length, head) = (Int(bytes[offset + 1] & 0x7F), 2)
            if length == 126 {
                guard bytes.count - offset >= 4 else { break }
                (length, head) = (Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3]), 4)
            }
            guard bytes.count - offset >= head + length else { break }
            let payload = UnsafeRawBufferPointer(rebasing: bytes[(offset + head)..<(offset + head + length)])
            switch bytes[offset] & 0x0F {
            case 8: isCut = true
            case 9: send([0x8A, UInt8(payload.count) | 0x80, 0, 0, 0, 0] + payload)
            case 10: break
            default: isReady ? frame(payload) : introduce(payload)
            }
            offset += head + length
        }
        if offset < bytes.count { rest = Array(bytes[offset...]) }
    }

    /// The steps until the subscription is live.
    private func introduce(_ payload: UnsafeRawBufferPointer) {
        let text = String(decoding: payload, as: UTF8.self)
        if text.contains("connection_ack") {
            let topic = order.topics.isEmpty ? JSONValue.null : .string(order.topics[index % order.topics.count])
            let payload: JSONValue = ["query": .string(Self.query), "variables": ["t": topic]]
            sendText(["type": "subscribe", "id": "1", "payload": payload])
            sendText(["type": "ping"])
        } else if text.contains("pong") {
            isReady = true
        } else {
            LiveReader.giveUp(text)
        }
    }

    /// A client masks; a mask of zeros changes nothing.
    private func sendText(_ value: JSONValue) {
        let payload = value.serialized()
        let length =
            payload.count < 126
            ? [UInt8(payload.count) | 0x80]
            : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        send([0x81] + length + [0, 0, 0, 0] + payload)
    }

    private func send(_ bytes: [UInt8]) { _ = write(descriptor, bytes, bytes.count) }
}

extension UnsafeRawBufferPointer {
    /// The offset after the first occurrence of a text.
    func end(of text: StaticString) -> Int? {
        guard count >= text.utf8CodeUnitCount else { return nil }
        return text.withUTF8Buffer { text in
            for start in 0...(count - text.count) where self[start] == text[0] {
                if self[start..<(start + text.count)].elementsEqual(text) { return start + text.count }
            }
            return nil
        }
    }
}
