import GraphQLTransport
import HTTPTypes
import NIOCore
import NIOHTTP1

extension HTTPRefusal {
    /// The answer to bytes the parser does not take; `nil` when nobody waits for one.
    static func refusal(of error: any Error, _ input: RawInput, _ settings: HTTPServerSettings) -> HTTPRefusal? {
        guard let error = error as? HTTPParserError else { return nil }
        let message: String
        switch error {
        case .headerOverflow:
            return input.lineBytes > settings.maximumTargetBytes ? targetTooLong(settings) : headTooLarge(settings)
        case .invalidEOFState, .closedConnection: return nil
        case .invalidVersion: message = "Only HTTP/1.1 and HTTP/1.0 are spoken, with CR LF at the ends of lines."
        case .invalidMethod: message = "This method is unknown."
        default: message = "The request is not well-formed HTTP/1.1."
        }
        return HTTPRefusal(.badRequest, message, .badRequest)
    }
}

/// Sees raw bytes before the parser does: whether a head has begun, and how long its first line is.
///
/// Confined to its event loop; shared by the handler that feeds it and the one that asks.
final class RawInput {
    /// Bytes of a head are in, its end is not.
    private(set) var hasBegun = false
    /// How many bytes came before the end of the first line, as far as is seen.
    private(set) var lineBytes = 0
    private var lineHasEnded = false

    func received(_ bytes: ByteBuffer) {
        hasBegun = true
        guard !lineHasEnded else { return }
        let view = bytes.readableBytesView
        let end = view.firstIndex(of: UInt8(ascii: "\n"))
        lineHasEnded = end != nil
        lineBytes += (end ?? view.endIndex) - view.startIndex
    }

    /// The next byte begins a new request.
    func reset() {
        hasBegun = false
        lineHasEnded = false
        lineBytes = 0
    }
}

/// Feeds `RawInput`.
final class RawInputHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let input: RawInput

    init(_ input: RawInput) { self.input = input }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        input.received(unwrapInboundIn(data))
        context.fireChannelRead(data)
    }
}
