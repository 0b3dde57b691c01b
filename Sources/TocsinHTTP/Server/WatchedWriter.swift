import NIOCore

/// Writes to a channel and drops it when the peer takes nothing for too long.
///
/// Confined to its event loop.
final class WatchedWriter {
    /// Bytes the system has not taken yet.
    private(set) var inFlightBytes = 0

    private let channel: any Channel
    private let milliseconds: Int
    private let deadline: ConnectionDeadline
    private var leftAtLastLook = 0

    init(_ channel: any Channel, milliseconds: Int) {
        self.channel = channel
        self.milliseconds = milliseconds
        deadline = ConnectionDeadline(channel.eventLoop)
    }

    /// Writes and flushes from the handler of `context`; `done` is told whether the system has taken all.
    func write(_ buffer: ByteBuffer, _ context: ChannelHandlerContext, done: @escaping (Bool) -> Void) {
        let count = buffer.readableBytes
        let promise = context.eventLoop.makePromise(of: Void.self)
        let wasIdle = inFlightBytes == 0
        inFlightBytes += count
        context.writeAndFlush(NIOAny(buffer), promise: promise)
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.inFlightBytes -= count
            if self.inFlightBytes == 0 { self.deadline.clear() }
            if case .success = result { done(true) } else { done(false) }
        }
        if wasIdle, inFlightBytes > 0 { watch() }
    }

    /// Forgets the timer.
    func stop() { deadline.cancel() }

    private func watch() {
        leftAtLastLook = bytesLeft
        deadline.set(milliseconds: milliseconds) { [self] in
            // Less is left than before: the peer is slow but reads.
            if bytesLeft < leftAtLastLook { return watch() }
            channel.close(mode: .all, promise: nil)
        }
    }

    private var bytesLeft: Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? inFlightBytes
    }
}
