import JSON
import NIOCore
import NIOWebSocket

/// The socket that a real browser holds to its push service, as Mozilla's autopush speaks it: texts
/// of JSON, each with a `messageType`.
final class BrowserSocket: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// The path that Firefox's `dom.push.serverURL` names, and what its handshake asks for.
    static let path = "/_browser"
    static let subprotocol = "push-notification"

    private let browsers: WebPushBrowsers
    /// The browser's own id at the service, from its hello on.
    private var agent: String?

    init(browsers: WebPushBrowsers) { self.browsers = browsers }

    /// A frame with a text, as services send it.
    static func frame(_ value: JSONValue) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: value.serialized()))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            guard let said = try? JSONParser.parse(Array(frame.unmaskedData.readableBytesView)), said.objectValue != nil
            else { return close(.dataInconsistentWithMessage, context) }
            hear(said, context)
        case .ping: send(.pong, frame.unmaskedData, context)
        case .connectionClose: close(.normalClosure, context)
        case .pong: break
        default: close(.unacceptableData, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let agent { browsers.disconnect(agent, context.channel) }
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .cut? = event as? ConnectionOrder { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func hear(_ said: JSONValue, _ context: ChannelHandlerContext) {
        let channelID = said["channelID"]?.stringValue ?? ""
        switch said["messageType"]?.stringValue {
        case "hello":
            if let agent { browsers.disconnect(agent, context.channel) }
            let agent = browsers.admit(said["uaid"]?.stringValue)
            self.agent = agent
            answer(["messageType": "hello", "uaid": .string(agent), "status": 200, "use_webpush": true], context)
            for push in browsers.connect(agent, context.channel) { answer(push, context) }
        case "register":
            guard let agent, !channelID.isEmpty else { return close(.policyViolation, context) }
            let endpoint = browsers.register(channelID, of: agent, serverKey: said["key"]?.stringValue)
            answer(
                [
                    "messageType": "register", "channelID": .string(channelID), "status": 200,
                    "pushEndpoint": .string(endpoint),
                ],
                context
            )
        case "unregister":
            guard let agent else { return close(.policyViolation, context) }
            browsers.unregister(channelID, of: agent)
            answer(["messageType": "unregister", "channelID": .string(channelID), "status": 200], context)
        case "ack": browsers.acknowledge(said["updates"]?.arrayValue?.compactMap { $0["code"]?.intValue } ?? [])
        case nil: answer([:], context)
        default: break
        }
    }

    private func answer(_ value: JSONValue, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(Self.frame(value)), promise: nil)
    }

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: nil)
    }

    private func close(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
        var reason = ByteBuffer()
        reason.write(webSocketErrorCode: code)
        send(.connectionClose, reason, context)
        context.close(promise: nil)
    }
}
