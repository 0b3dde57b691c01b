import NIOCore

/// Reads a connection no faster than told, as a provider under load does: the peer's bytes
/// wait in its own buffers.
final class ReadPace: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private var bytesPerSecond: Int?
    private var nextRead = NIODeadline.uptimeNanoseconds(0)
    /// A read that waits for its time.
    private var isWaiting = false
    private var timer: Scheduled<Void>?

    init(bytesPerSecond: Int?) {
        self.bytesPerSecond = bytesPerSecond
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let bytesPerSecond, bytesPerSecond > 0 {
            let nanoseconds = Int64(unwrapInboundIn(data).readableBytes) * 1_000_000_000 / Int64(bytesPerSecond)
            nextRead = max(nextRead, .now()) + .nanoseconds(nanoseconds)
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        isWaiting = true
        readInTime(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .limits(let limits)? = event as? ConnectionOrder {
            bytesPerSecond = limits.readBytesPerSecond
            nextRead = .now()
            timer?.cancel()
            timer = nil
            readInTime(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    private func readInTime(_ context: ChannelHandlerContext) {
        guard isWaiting, timer == nil, bytesPerSecond != 0 else { return }
        guard bytesPerSecond != nil, nextRead > .now() else {
            isWaiting = false
            return context.read()
        }
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: nextRead) {
            self.timer = nil
            self.readInTime(context)
        }
    }
}
