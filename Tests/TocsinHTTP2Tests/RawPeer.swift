import NIOCore
import NIOPosix
import Synchronization
import TocsinHTTP2
import TocsinPush

/// A peer in clear text that sends exactly the bytes a test wants, good or bad.
final class RawPeer: Sendable {
    /// What the peer says: first, and in answer to each frame of the client.
    struct Part: Sendable {
        var hello: [UInt8] = Frame.settings()
        var answer: @Sendable (_ frame: Frame) -> [UInt8] = { _ in [] }
        var closesAfterHello = false
        var closesOnRequest = false
        /// Only the first connection is closed so.
        var closesOnlyOnce = false
    }

    let connections = Mutex(0)
    private let part: Part
    private let listening = Mutex<(any Channel)?>(nil)

    private init(_ part: Part) { self.part = part }

    /// Runs a test against the peer with a transport of its own.
    static func with(
        _ part: Part,
        transport change: (inout HTTP2Settings) -> Void = { _ in },
        _ body: (RawPeer, HTTP2Transport, PushBatch) async throws -> Void
    ) async throws {
        let peer = RawPeer(part)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let number = peer.connections.withLock { connections in
                    connections += 1
                    return connections
                }
                var part = peer.part
                if part.closesOnlyOnce, number > 1 { part.closesOnRequest = false }
                let handled = part
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RawHandler(handled))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var settings = HTTP2Settings()
        settings.connectTimeoutSeconds = 5
        change(&settings)
        let transport = try HTTP2Transport(group: MultiThreadedEventLoopGroup.singleton, settings: settings)
        let pool = PushPool(origin: "http://127.0.0.1:\(channel.localAddress?.port ?? 0)", credential: "raw")
        let request = PushBatch.Request(path: "/", headers: [], body: [1, 2, 3])
        let batch = PushBatch(pool: pool, sharedHeaders: [], requests: [request], timeoutSeconds: 5)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(peer, transport, batch))
        } catch {
            result = .failure(error)
        }
        await transport.shutdown(graceSeconds: 0.2)
        try await channel.close()
        try result.get()
    }
}

/// A frame's head (RFC 9113 §4.1), and makers for the few frames tests send.
struct Frame: Sendable {
    var type: UInt8
    var flags: UInt8
    var stream: UInt8

    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let ping: UInt8 = 6
    static let endStream: UInt8 = 1
    static let endHeaders: UInt8 = 4

    static func bytes(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let count = payload.count
        return [UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags, 0, 0, 0, stream] + payload
    }

    static func settings(maximumStreams: UInt8 = 100) -> [UInt8] {
        bytes(4, [0, 3, 0, 0, 0, maximumStreams])
    }

    /// Response HEADERS with nothing but `:status: 200`, the eighth line of HPACK's table.
    static func ok(stream: UInt8, ends: Bool) -> [UInt8] {
        bytes(headers, flags: endHeaders | (ends ? endStream : 0), stream: stream, [0x88])
    }

    static func reset(stream: UInt8, code: UInt8) -> [UInt8] { bytes(3, stream: stream, [0, 0, 0, code]) }

    static func goAway(last: UInt8) -> [UInt8] { bytes(7, [0, 0, 0, last, 0, 0, 0, 0]) }
}

private final class RawHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let part: RawPeer.Part
    private var received: [UInt8] = []
    private var hasPreface = false

    init(_ part: RawPeer.Part) { self.part = part }

    func channelActive(context: ChannelHandlerContext) {
        send(part.hello, context)
        if part.closesAfterHello { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytesView
        if !hasPreface, received.count >= 24 {
            hasPreface = true
            received.removeFirst(24)
        }
        while hasPreface, received.count >= 9 {
            let length = Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2])
            guard received.count >= 9 + length else { return }
            let frame = Frame(type: received[3], flags: received[4], stream: received[8])
            received.removeFirst(9 + length)
            send(part.answer(frame), context)
            if part.closesOnRequest, frame.type == Frame.headers { return context.close(promise: nil) }
        }
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        guard !bytes.isEmpty else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }
}
