import Glibc
import NIOCore

/// Writes to a channel and drops it when the peer takes nothing for too long.
///
/// Confined to its event loop.
final class WatchedWriter {
    /// Bytes the system has not taken yet.
    private(set) var inFlightBytes = 0
    /// Told when the channel is dropped because its peer took nothing.
    var givenUp: (() -> Void)?

    private let channel: any Channel
    private let milliseconds: Int
    /// Nothing stands between the bytes written and those on the wire.
    private let isPlain: Bool
    /// The system has taken everything written so far.
    private var hasWrittenAll = false
    private var isStopped = false
    private var socket: Socket = .unknown
    private let deadline: ConnectionDeadline
    private var leftAtLastLook = 0

    /// How the socket can be reached without its channel.
    private enum Socket {
        case unknown
        case number(NIOBSDSocket.Handle?)
    }

    init(_ channel: any Channel, settings: HTTPServerSettings) {
        self.channel = channel
        milliseconds = settings.writeMilliseconds
        isPlain = settings.tls == nil
        deadline = ConnectionDeadline(channel.eventLoop)
    }

    /// Writes and flushes from the handler of `context`; `done` is told whether
    /// the system has taken all.
    func write(_ buffer: ByteBuffer, _ context: ChannelHandlerContext, done: @escaping (Bool) -> Void) {
        let count = buffer.readableBytes
        let promise = context.eventLoop.makePromise(of: Void.self)
        let wasIdle = inFlightBytes == 0
        hasWrittenAll = false
        inFlightBytes += count
        context.writeAndFlush(NIOAny(buffer), promise: promise)
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.inFlightBytes -= count
            if self.inFlightBytes == 0 { self.deadline.clear() }
            guard case .success = result else { return done(false) }
            self.hasWrittenAll = self.inFlightBytes == 0
            done(true)
        }
        if wasIdle, inFlightBytes > 0 { watch() }
    }

    /// Gives the socket what it takes at once and answers whether that was all;
    /// the rest is to be written.
    ///
    /// Answers and events are small writes. The way through the channel, with its promise and its
    /// list of what waits, costs a third of what the system's own part does. So a write goes past
    /// the channel while nothing else is on its way, until the channel is inactive. Its handler
    /// learns that in the same turn of the loop that closes the socket.
    func writeAtOnce(_ buffer: inout ByteBuffer) -> Bool {
        guard let number = freeSocket else { return false }
        let taken = buffer.withUnsafeReadableBytes { Self.taken(of: $0, by: number) }
        buffer.moveReaderIndex(forwardBy: taken)
        return buffer.readableBytes == 0
    }

    /// The same of what `fill` puts into memory of so many bytes; answers what is to be
    /// written of it, if anything.
    ///
    /// What is small and all taken needs no buffer.
    func writeAtOnce(room: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) -> ByteBuffer? {
        guard room <= Self.smallBytes, let number = freeSocket else {
            var buffer = channel.allocator.buffer(capacity: room)
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room, fill)
            return writeAtOnce(&buffer) ? nil : buffer
        }
        return withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { memory in
            let bytes = UnsafeRawBufferPointer(rebasing: memory[..<fill(memory)])
            let taken = Self.taken(of: bytes, by: number)
            return taken == bytes.count ? nil : ByteBuffer(bytes: bytes[taken...])
        }
    }

    private static let smallBytes = 16_384

    /// How many bytes the socket takes now.
    private static func taken(of bytes: UnsafeRawBufferPointer, by number: NIOBSDSocket.Handle) -> Int {
        // What is wrong with the socket the channel will learn when it is given the rest.
        max(0, send(number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)))
    }

    /// The socket, while nothing is on the way to it.
    private var freeSocket: NIOBSDSocket.Handle? { isPlain && hasWrittenAll && !isStopped ? socketNumber : nil }

    private var socketNumber: NIOBSDSocket.Handle? {
        if case .number(let number) = socket { return number }
        let operations = channel.pipeline.syncOperations
        let number = try? operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        socket = .number(number)
        return number
    }

    /// The channel is inactive: nothing is written any more.
    func stop() {
        isStopped = true
        deadline.cancel()
    }

    private func watch() {
        leftAtLastLook = bytesLeft
        deadline.set(milliseconds: milliseconds) { [self] in
            // Less is left than before: the peer is slow but reads.
            if bytesLeft < leftAtLastLook { return watch() }
            givenUp?()
            channel.close(mode: .all, promise: nil)
        }
    }

    private var bytesLeft: Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? inFlightBytes
    }
}
