import GraphQLTransport
import HTTPTypes
import Logging
import Metrics
import NIOCore
import NIOHTTP1

extension HTTPConnectionHandler {
    /// Turns the connection into a socket, or answers why not.
    func upgrade(_ request: IncomingRequest) {
        guard let context else { return }
        guard let path = parts.socketPath(request.path) else {
            let address = parts.settings.publicPath(parts.settings.graphQLPath)
            let message = "No socket is served at this path. Open it at \(address)."
            return answer(request, with: OutgoingResponse(HTTPRefusal(.notFound, message, .badRequest)))
        }
        let upgrade = WebSocketUpgrade(request: request, path: path, origins: parts.responder.origins)
        do {
            try upgrade.check()
        } catch {
            var response = OutgoingResponse(error)
            if error.status == .forbidden, upgrade.hasSession {
                parts.settings.sessionRefused?(error.message, request.source)
            }
            if error.status == .upgradeRequired {
                response.fields += [("upgrade", "websocket"), ("sec-websocket-version", "13")]
            }
            return answer(request, with: response)
        }
        upgrade.acceptance(on: context.channel).assumeIsolated().whenSuccess { bytes in
            self.write(bytes)
            self.becomeSocket(upgrade.makeSession(limits: self.parts.settings.session), request)
        }
    }

    /// Takes HTTP out of the pipeline; bytes that came after the handshake go to the frame decoder.
    private func becomeSocket(_ session: any SocketSession, _ request: IncomingRequest) {
        guard let context else { return }
        var response = OutgoingResponse(status: .switchingProtocols, contentType: nil)
        response.closes = true
        parts.accessLog.record(request, response)
        count(request, response)
        parts.settings.metrics?.opened[.websocket].add()
        let pipeline = context.pipeline.syncOperations
        let channel = context.channel
        let socket = WebSocketHandler(parts, session, channel: channel, request, registration)
        do {
            let http = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let raw = try pipeline.handler(type: RawInputHandler<Service>.self)
            try pipeline.addHandler(socket)
            pipeline.removeHandler(raw, promise: nil)
            pipeline.removeHandler(self, promise: nil)
            pipeline.removeHandler(http, promise: nil)
            // One that was held back is not asked for again.
            if isHoldingRead { channel.read() }
        } catch {
            parts.logger.error(
                "a socket could not be set up",
                metadata: [
                    "event": "socket_not_set_up", "error": "\(error)", "request_id": "\(request.id)",
                ]
            )
            var frame = ByteBuffer()
            frame.writeCloseFrame(code: SocketCloseCode.internalServerError.rawValue, reason: "Internal server error")
            write(frame) { context.close(mode: .all, promise: nil) }
        }
    }
}
