import Encodings
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// What became of the wish to open a WebSocket.
enum WebSocketUpgrade: Sendable {
    case granted(HTTPHeaders)
    /// The answer's head follows: NIO hands it on only after this is said.
    case refused(EventLoopFuture<HTTPResponseHead>)
}

/// One open WebSocket; events are read by one task.
struct WebSocketConnection: Sendable {
    private let channel: any Channel
    private let inbox: SocketInbox
    /// The server's `Date` at the opening, in seconds since 1970.
    let serverSeconds: Int64?

    /// Opens a WebSocket on the GraphQL path, in the time for handshakes.
    static func open(
        connector: Connector,
        subprotocol: String,
        settings: ClientSettings
    ) async throws(ClientError) -> WebSocketConnection {
        let inbox = SocketInbox()
        let pending = try await connector.connect { channel in
            channel.eventLoop.makeCompletedFuture {
                let upgrade = try Self.prepare(channel, inbox, subprotocol, connector.address, settings)
                return Pending(channel: channel, upgrade: upgrade)
            }
        }
        let channel = pending.channel
        let handshake = channel.eventLoop.scheduleTask(in: TimeAmount(settings.handshakeTimeout)) {
            inbox.end(code: nil, reason: "the server did not open the socket in time")
            channel.close(promise: nil)
        }
        defer { handshake.cancel() }
        let problem: ClientError?
        let serverSeconds: Int64?
        do {
            (problem, serverSeconds) = try await withTaskCancellationHandler {
                switch try await pending.upgrade.get() {
                case .granted(let headers):
                    let isSpoken = headers.first(name: "sec-websocket-protocol") == subprotocol
                    let problem = isSpoken ? nil : Self.wrongSubprotocol(subprotocol, connector.address)
                    return (problem, headers.first(name: "date").flatMap(HTTPDate.seconds))
                case .refused(let head): return (Self.refusal(try await head.get(), connector.address), nil)
                }
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            channel.close(promise: nil)
            guard !Task.isCancelled else { throw .cancelled }
            let encryption = EncryptionFailure(error)
            let reason = encryption?.description ?? LostConnection.reason(error)
            throw ClientError(
                encryption == nil ? .connectionFailed : .badAnswer,
                "No WebSocket with \(connector.address.description): \(reason).",
                cause: error
            )
        }
        let connection = WebSocketConnection(channel: channel, inbox: inbox, serverSeconds: serverSeconds)
        if let problem {
            connection.close()
            throw problem
        }
        return connection
    }

    /// The next event; the socket is closed when the task is cancelled.
    func next() async -> SocketEvent {
        await withTaskCancellationHandler {
            await inbox.next {
                channel.setOption(.autoRead, value: true).whenFailure { _ in }
            }
        } onCancel: {
            close()
        }
    }

    /// Sends a text message; what cannot be sent any more shows as the connection's end.
    func send(_ text: [UInt8]) {
        let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer(bytes: text))
        channel.writeAndFlush(frame, promise: nil)
    }

    /// Closes the connection politely, or at once if that does not work.
    func close() {
        inbox.end(code: nil, reason: "closed here")
        let (channel, farewell) = (channel, Self.farewell)
        channel.writeAndFlush(farewell).whenComplete { _ in channel.close(promise: nil) }
    }

    private static var farewell: WebSocketFrame {
        var code = ByteBuffer()
        code.writeInteger(UInt16(1000))
        return WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: code)
    }
}

// The handshake (RFC 6455 §4.1).
extension WebSocketConnection {
    private struct Pending: Sendable {
        let channel: any Channel
        let upgrade: EventLoopFuture<WebSocketUpgrade>
    }

    private static func prepare(
        _ channel: any Channel,
        _ inbox: SocketInbox,
        _ subprotocol: String,
        _ address: ServerAddress,
        _ settings: ClientSettings
    ) throws -> EventLoopFuture<WebSocketUpgrade> {
        let maximumBytes = settings.maximumAnswerBytes
        let upgrader = NIOTypedWebSocketClientUpgrader<WebSocketUpgrade>(
            maxFrameSize: maximumBytes,
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let joiner = NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0,
                        maxAccumulatedFrameCount: 1024,
                        maxAccumulatedFrameSize: maximumBytes
                    )
                    try channel.pipeline.syncOperations.addHandler(joiner)
                    let handler = ClientWebSocketHandler(
                        inbox: inbox,
                        pingInterval: TimeAmount(settings.pingInterval),
                        silenceTimeout: TimeAmount(settings.silenceTimeout)
                    )
                    try channel.pipeline.syncOperations.addHandler(handler)
                    return .granted(head.headers)
                }
            }
        )
        let configuration = NIOTypedHTTPClientUpgradeConfiguration(
            upgradeRequestHead: requestHead(subprotocol, address, settings.userAgent),
            upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture {
                    let answer = channel.eventLoop.makePromise(of: HTTPResponseHead.self)
                    try channel.pipeline.syncOperations.addHandler(RefusedUpgradeHandler(answer: answer))
                    return .refused(answer.futureResult)
                }
            }
        )
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: .init(upgradeConfiguration: configuration)
        )
    }

    private static func requestHead(
        _ subprotocol: String,
        _ address: ServerAddress,
        _ userAgent: String
    ) -> HTTPRequestHead {
        let headers = HTTPHeaders([
            ("Host", address.authority),
            ("Sec-WebSocket-Protocol", subprotocol),
            ("User-Agent", userAgent),
            ("Content-Length", "0"),
        ])
        return HTTPRequestHead(version: .http1_1, method: .GET, uri: address.path, headers: headers)
    }

    private static func wrongSubprotocol(_ subprotocol: String, _ address: ServerAddress) -> ClientError {
        ClientError(.badAnswer, "\(address.description) does not speak \(subprotocol). Is it a Tocsin server?")
    }

    private static func refusal(_ head: HTTPResponseHead, _ address: ServerAddress) -> ClientError {
        let status = head.status.code
        let code: ClientError.Code =
            switch status {
            case 401: .unauthenticated
            case 403: .unauthorized
            case 429, 500...: .unavailable
            default: .badAnswer
            }
        let seconds = head.headers.first(name: "retry-after").flatMap { Int($0) }
        return ClientError(
            code,
            "\(address.description)\(address.path) refused a WebSocket with status \(status).",
            retryAfter: seconds.map { .seconds(max(0, $0)) }
        )
    }
}
