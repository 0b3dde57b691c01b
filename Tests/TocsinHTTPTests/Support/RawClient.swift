import NIOCore
import NIOPosix

/// A bare socket: sends what it is told and reads what comes, byte by byte if need be.
///
/// It closes itself after a minute, so that no test hangs, and says so at the end of what came:
/// that was not the server.
final class RawClient {
    struct Closed: Error, CustomStringConvertible {
        let seen: String
        var description: String { "The server closed; unread: \(seen.debugDescription)" }
    }

    let channel: any Channel
    private var chunks: AsyncStream<[UInt8]>.Iterator
    /// What came; all before `start` has been read.
    private var buffer: [UInt8] = []
    private var start = 0

    private init(_ channel: any Channel, _ chunks: AsyncStream<[UInt8]>) {
        self.channel = channel
        self.chunks = chunks.makeAsyncIterator()
    }

    /// Connects to a port, or to the socket in the file system that `socket` names.
    ///
    /// `reads: false` leaves everything in the system's buffers until `startReading`.
    static func connect(
        host: String = "127.0.0.1",
        port: Int = 0,
        socket path: String? = nil,
        from address: String? = nil,
        reads: Bool = true,
        receiveBuffer: Int? = nil
    ) async throws -> RawClient {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(continuation))
                }
            }
        if let address { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: address, port: 0)) }
        if let receiveBuffer { bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer) }
        let connecting =
            path.map { bootstrap.connect(unixDomainSocketPath: $0) } ?? bootstrap.connect(host: host, port: port)
        let channel = try await connecting.get()
        let timeout = channel.eventLoop.scheduleTask(in: .seconds(60)) {
            continuation.yield(Array("(still open after a minute)".utf8))
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in timeout.cancel() }
        return RawClient(channel, stream)
    }

    func startReading() async throws { try await channel.setOption(.autoRead, value: true).get() }

    func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    func close() { channel.close(promise: nil) }

    /// Says that nothing more is sent; answers can still come.
    func endOutput() async throws { try await channel.close(mode: .output) }

    /// The next `count` bytes.
    func read(_ count: Int) async throws -> [UInt8] {
        while buffer.count - start < count { try await fill() }
        defer { taken(count) }
        return Array(buffer[start..<start + count])
    }

    /// Everything up to and with this text.
    func read(through end: String) async throws -> String {
        let end = Array(end.utf8)
        while true {
            if let range = buffer[start...].firstRange(of: end) {
                defer { taken(range.upperBound - start) }
                return String(decoding: buffer[start..<range.upperBound], as: UTF8.self)
            }
            try await fill()
        }
    }

    /// Everything until the server closes.
    func readToEnd() async -> String {
        while let chunk = await chunks.next(isolation: nil) { buffer += chunk }
        defer { (buffer, start) = ([], 0) }
        return String(decoding: buffer[start...], as: UTF8.self)
    }

    private func taken(_ count: Int) {
        start += count
        guard start > 65_536 else { return }
        buffer.removeFirst(start)
        start = 0
    }

    private func fill() async throws {
        guard let chunk = await chunks.next(isolation: nil) else {
            throw Closed(seen: String(decoding: buffer[start...].prefix(500), as: UTF8.self))
        }
        buffer += chunk
    }

    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let continuation: AsyncStream<[UInt8]>.Continuation

        init(_ continuation: AsyncStream<[UInt8]>.Continuation) { self.continuation = continuation }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(Array(unwrapInboundIn(data).readableBytesView))
        }

        func channelInactive(context: ChannelHandlerContext) { continuation.finish() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// One response as it came.
struct RawResponse {
    let status: Int
    let fields: [String: String]
    let body: String
}

extension RawClient {
    /// The next response; `hasBody: false` for answers to `HEAD`.
    func response(hasBody: Bool = true) async throws -> RawResponse {
        let head = try await read(through: "\r\n\r\n")
        let lines = head.split(separator: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            let value = parts.last.map { String($0.drop { $0 == " " }) }
            fields[parts[0].lowercased()] = value
        }
        let length = hasBody ? fields["content-length"].flatMap { Int($0) } ?? 0 : 0
        let body = String(decoding: try await read(length), as: UTF8.self)
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return RawResponse(status: status, fields: fields, body: body)
    }

    /// A `POST` of a query with a good token.
    func post(_ query: String, fields: String = "", then trailing: String = "") {
        let body = "{\"query\":\"\(query)\"}"
        send(
            "POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\nContent-Type: application/json\r\n"
                + "\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)\(trailing)"
        )
    }
}
