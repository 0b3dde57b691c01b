import GraphQLTransport
import HTTPTypes
import NIOCore
import NIOHTTP1

extension HTTPRefusal {
    /// The answer to bytes the parser does not take; `nil` when nobody waits for one.
    ///
    /// `lineIsOpen` says that the request line had no end yet.
    static func refusal(of error: any Error, lineIsOpen: Bool, _ settings: HTTPServerSettings) -> HTTPRefusal? {
        guard let error = error as? HTTPParserError else { return nil }
        switch error {
        case .headerOverflow:
            guard lineIsOpen else { return headTooLarge(settings) }
            let message = "The request target is longer than \(settings.maximumTargetBytes) bytes."
            return HTTPRefusal(.uriTooLong, message, .badRequest)
        case .invalidVersion:
            return HTTPRefusal(.httpVersionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are spoken.", .badRequest)
        case .invalidEOFState, .closedConnection: return nil
        case .invalidMethod:
            return HTTPRefusal(.notImplemented, "This method is unknown.", .badRequest)
        default:
            return HTTPRefusal(.badRequest, "The request is not well-formed HTTP/1.1.", .badRequest)
        }
    }
}

/// Sees raw bytes before the parser does: whether a head has begun, and whether its first line has ended.
///
/// Confined to its event loop; shared by the handler that feeds it and the one that asks.
final class RawInput {
    /// Bytes of a head are in, its end is not.
    private(set) var hasBegun = false
    /// The first line has no end yet.
    private(set) var lineIsOpen = true

    func received(_ bytes: ByteBuffer) {
        hasBegun = true
        if lineIsOpen { lineIsOpen = !bytes.readableBytesView.contains(UInt8(ascii: "\n")) }
    }

    /// The next byte begins a new request.
    func reset() {
        hasBegun = false
        lineIsOpen = true
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
