import CNGHTTP2
import NIOCore

/// Serves one HTTP/2 connection: frames by `ServerSession`, answers by a `WireService`.
final class HTTP2ServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let service: any WireService
    private let session: ServerSession
    private var connection: WireConnection
    private var isOpened = false

    init(service: any WireService) {
        self.service = service
        connection = service.connectionOpened()
        session = ServerSession(
            maximumStreams: service.opensWithOneStream ? 1 : service.limits.streams,
            readsHeaders: service.readsHeaders
        )
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { flush(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        flush(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        service.connectionClosed(connection)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard bytes.withUnsafeReadableBytes({ session.receive($0) }) else {
            flush(context)
            context.close(promise: nil)
            return
        }
        service.streamsOpen(session.streams.count)
        for (id, request) in session.takeFinished() where id <= session.lastStream {
            perform(service.reply(to: request, on: &connection), id, context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if connection.isOpened, !isOpened, service.opensWithOneStream {
            isOpened = true
            session.allow(streams: service.limits.streams)
        }
        flush(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let order = event as? ConnectionOrder {
            switch order {
            case .limits(let limits):
                if isOpened || !service.opensWithOneStream { session.allow(streams: limits.streams) }
            case .goAway(let goAway):
                let last = goAway.lastStream ?? session.newestStream
                session.goAway(last: last, debugData: Self.debugData(goAway.reason))
            case .cut:
                context.close(promise: nil)
                return
            }
            flush(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func perform(_ reply: WireReply, _ id: Int32, _ context: ChannelHandlerContext) {
        switch reply {
        case .answer(let answer):
            session.answer(id, answer)
        case .late(let answer, let seconds):
            let delay = TimeAmount.nanoseconds(Int64(seconds * 1e9))
            context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
                guard context.channel.isActive else { return }
                self.session.answer(id, answer)
                self.flush(context)
            }
        case .goAway(let answer, let goAway):
            if let answer { session.answer(id, answer) }
            let last = goAway.lastStream ?? (answer == nil ? id - 2 : id)
            session.goAway(last: last, debugData: Self.debugData(goAway.reason))
        case .reset(let errorCode):
            session.reset(id, errorCode: errorCode)
        case .headersOnly(let status):
            session.answer(id, WireAnswer(status: status), ends: false)
        case .silence:
            break
        case .hangUp:
            context.close(promise: nil)
        }
    }

    /// GOAWAY carries its reason as APNs words it.
    private static func debugData(_ reason: String) -> String {
        #"{"reason":"\#(reason)"}"#
    }

    private func flush(_ context: ChannelHandlerContext) {
        var out = context.channel.allocator.buffer(capacity: 16_384)
        while session.withNextBytes({ out.writeBytes($0) }) {}
        if out.readableBytes > 0 {
            context.writeAndFlush(wrapOutboundOut(out), promise: nil)
        }
        if session.isOver { context.close(promise: nil) }
    }
}
