import Encodings
import NIOCore
import NIOHTTP1

/// One request to the GraphQL endpoint and the promise of its answer.
struct PendingRequest: Sendable {
    let head: HTTPRequestHead
    let body: ByteBuffer
    let answer: EventLoopPromise<HTTPAnswer>
}

/// A complete answer.
struct HTTPAnswer: Sendable {
    var status: Int
    var body: [UInt8]
    /// `Retry-After`, where it is given in seconds.
    var retryAfterSeconds: Int?
    /// `Date`, in seconds since 1970.
    var serverSeconds: Int64?
    /// Whether the connection may carry another exchange.
    var keepsConnection: Bool
}

/// Why an exchange brought no answer.
enum ExchangeFailure: Error, CustomStringConvertible {
    case connectionLost
    case timedOut
    case tooLarge(limitBytes: Int)
    case notHTTP(reason: String)

    var description: String {
        switch self {
        case .connectionLost: "the connection closed before the answer was complete"
        case .timedOut: "no answer came in time"
        case .tooLarge(let limit): "the answer is larger than \(limit) bytes"
        case .notHTTP(let reason): "the answer is not HTTP: \(reason)"
        }
    }
}

/// Sends one request at a time over its connection and collects the answer.
final class HTTPExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = PendingRequest
    typealias OutboundOut = HTTPClientRequestPart

    private let maximumBytes: Int
    private var current: PendingRequest?
    private var answer: HTTPAnswer?
    private let ending: ConnectionEnding

    init(maximumBytes: Int, ending: ConnectionEnding) {
        (self.maximumBytes, self.ending) = (maximumBytes, ending)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let exchange = unwrapOutboundIn(data)
        // It may have ended before anything was asked, such as by its certificate.
        if let reason = ending.reason {
            promise?.fail(reason)
            return
        }
        current = exchange
        answer = nil
        context.write(wrapOutboundOut(.head(exchange.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(exchange.body))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            answer = HTTPAnswer(
                status: Int(head.status.code),
                body: [],
                retryAfterSeconds: head.headers.first(name: "retry-after").flatMap { Int($0) },
                serverSeconds: head.headers.first(name: "date").flatMap(HTTPDate.seconds),
                keepsConnection: head.isKeepAlive
            )
        case .body(let bytes):
            guard (answer?.body.count ?? 0) + bytes.readableBytes <= maximumBytes else {
                return fail(ExchangeFailure.tooLarge(limitBytes: maximumBytes), context)
            }
            answer?.body.append(contentsOf: bytes.readableBytesView)
        case .end:
            guard let answer, let current else { return }
            self.current = nil
            current.answer.succeed(answer)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(EncryptionFailure(error) ?? Self.failure(error), context)
    }

    /// A connection that breaks in the middle of an answer is no sign of a strange
    /// server: it may be asked again.
    private static func failure(_ error: any Error) -> ExchangeFailure {
        guard let fault = error as? HTTPParserError, fault != .invalidEOFState else { return .connectionLost }
        return .notHTTP(reason: "\(fault)")
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(ExchangeFailure.connectionLost, context)
        context.fireChannelInactive()
    }

    private func fail(_ failure: any Error, _ context: ChannelHandlerContext) {
        let failed = current
        current = nil
        ending.give(failure)
        failed?.answer.fail(failure)
        context.close(promise: nil)
    }
}
