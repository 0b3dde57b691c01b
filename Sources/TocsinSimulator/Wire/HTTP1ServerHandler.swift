import NIOCore
import NIOHTTP1

/// Serves one HTTP/1.1 connection by the same services: the token endpoint
/// and the control listener.
final class HTTP1ServerHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let service: any WireService
    private var connection: WireConnection
    private var request = WireRequest()
    private var keepsAlive = true

    /// Bytes of a request body that are kept.
    private static let maximumBodyBytes = 65_536

    init(service: any WireService) {
        self.service = service
        connection = service.connectionOpened()
    }

    func channelInactive(context: ChannelHandlerContext) {
        service.connectionClosed(connection)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            request = WireRequest(method: head.method.rawValue, path: head.uri)
            request.headers = head.headers.map { (name: $0.name.lowercased(), value: $0.value) }
            keepsAlive = head.isKeepAlive
        case .body(let bytes):
            request.bodyBytes += bytes.readableBytes
            let room = Self.maximumBodyBytes - request.body.count
            request.body.append(contentsOf: bytes.readableBytesView.prefix(room))
        case .end:
            perform(service.reply(to: request, on: &connection), context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .cut? = event as? ConnectionOrder { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func perform(_ reply: WireReply, _ context: ChannelHandlerContext) {
        switch reply {
        case .answer(let answer):
            write(answer, closes: !keepsAlive, context)
        case .late(let answer, let seconds):
            context.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(seconds * 1e9))) {
                guard context.channel.isActive else { return }
                self.write(answer, closes: !self.keepsAlive, context)
            }
        case .goAway(let answer?, _):
            write(answer, closes: true, context)
        case .goAway(nil, _), .reset, .hangUp:
            context.close(promise: nil)
        case .headersOnly, .silence:
            break
        }
    }

    private func write(_ answer: WireAnswer, closes: Bool, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        headers.add(name: "content-length", value: String(answer.body.count))
        if closes { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !answer.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        }
        let done = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
        if closes {
            done.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
    }
}
