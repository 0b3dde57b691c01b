import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Turns frames into events of the inbox, answers pings, sends its own, and notices a silent peer.
final class ClientWebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let inbox: SocketInbox
    private let pingInterval: TimeAmount
    private let silenceTimeout: TimeAmount
    private var lastSign = NIODeadline.now()
    private var watch: RepeatedTask?

    init(inbox: SocketInbox, pingInterval: TimeAmount, silenceTimeout: TimeAmount) {
        self.inbox = inbox
        self.pingInterval = pingInterval
        self.silenceTimeout = silenceTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        lastSign = .now()
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        watch = context.eventLoop.scheduleRepeatedTask(initialDelay: pingInterval, delay: pingInterval) { _ in
            let (handler, context) = bound.value
            handler.lookAtPeer(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        watch?.cancel()
        watch = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastSign = .now()
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            if inbox.put(.text(Array(frame.unmaskedData.readableBytesView))) {
                context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
            }
        case .ping: send(.pong, frame.unmaskedData, context)
        case .connectionClose: closed(frame.unmaskedData, context)
        case .pong: break
        default: end("the server sent a frame that is not text", context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(LostConnection.reason(error), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        inbox.end(code: nil, reason: "the connection closed")
        context.fireChannelInactive()
    }

    private func lookAtPeer(_ context: ChannelHandlerContext) {
        guard !inbox.isPaused else { return lastSign = .now() }
        guard lastSign + silenceTimeout > .now() else {
            let seconds = silenceTimeout.nanoseconds / 1_000_000_000
            return end("nothing was heard of the server for \(seconds) seconds", context)
        }
        send(.ping, ByteBuffer(), context)
    }

    private func closed(_ payload: ByteBuffer, _ context: ChannelHandlerContext) {
        var payload = payload
        let code = payload.readInteger(as: UInt16.self).map(Int.init)
        inbox.end(code: code, reason: String(buffer: payload))
        var answer = ByteBuffer()
        if let code { answer.writeInteger(UInt16(truncatingIfNeeded: code)) }
        send(.connectionClose, answer, context)
        context.close(promise: nil)
    }

    private func end(_ reason: String, _ context: ChannelHandlerContext) {
        inbox.end(code: nil, reason: reason)
        context.close(promise: nil)
    }

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

/// Waits for the answer to an upgrade that the server did not grant.
final class RefusedUpgradeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let answer: EventLoopPromise<HTTPResponseHead>

    init(answer: EventLoopPromise<HTTPResponseHead>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        answer.succeed(head)
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        answer.fail(ExchangeFailure.connectionLost)
        context.fireChannelInactive()
    }
}
