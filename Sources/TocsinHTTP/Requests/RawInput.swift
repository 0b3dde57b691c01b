import GraphQLTransport
import HTTPTypes
import NIOCore

/// What a client sent and the parser has not had yet, handed on in pieces that end where a head or a body does.
///
/// So nothing of a request is parsed before the one in front of it is taken, and what a client sends ahead waits as bytes.
/// Where a request ends the parser says; what is found here are only the places at which to look up.
///
/// The parser alone could not do with less: it parses all that one read brought, which may be 900 requests of 18 bytes, and
/// each takes thirty times its bytes when it is parsed. Nor does it tell how long the first line is when it gives a head up,
/// that a head has begun, or how long a chunk's extension is.
///
/// Confined to its event loop; shared by the handler that feeds it and the one that asks.
final class RawInput {
    /// The next bytes for the parser, or why they are not for it.
    enum Piece {
        case bytes(ByteBuffer)
        case refused(HTTPRefusal)
    }

    /// Bytes of a head are in, its end is not.
    private(set) var hasBegun = false
    /// How many bytes came before the end of the first line, as far as is seen.
    private(set) var lineBytes = 0
    /// Hands bytes to the parser; nil once HTTP is over.
    var forward: ((ByteBuffer) -> Void)?
    /// Told when nothing waits any more.
    var emptied: (() -> Void)?
    private var lineHasEnded = false
    /// Bytes of the head's present line, the first line being longer than an empty one.
    private var presentLine = 0
    private var bodyBytes = 0
    private var chunks = ChunkLines()
    private var rest = ByteBuffer()

    /// How many bytes wait.
    var count: Int { rest.readableBytes }

    /// Takes what came.
    func append(_ bytes: ByteBuffer) {
        guard rest.readableBytes > 0 else {
            rest = bytes
            return
        }
        var bytes = bytes
        rest.writeBuffer(&bytes)
    }

    /// Gives up all that waits.
    func takeAll() -> ByteBuffer {
        defer { rest = ByteBuffer() }
        return rest
    }

    /// The next bytes for the parser, which is this far; nil when there are none.
    func next(for reader: RequestReader) -> Piece? {
        guard rest.readableBytes > 0 else { return nil }
        switch reader.phase {
        case .refused:
            rest = ByteBuffer()
            return nil
        case .head: return piece(headPart())
        case .body where reader.hasChunks:
            switch rest.withUnsafeReadableBytes({ chunks.read($0) }) {
            case .taken(let count): return piece(count)
            case .refused(let message): return .refused(HTTPRefusal(.badRequest, message, .badRequest))
            }
        case .body:
            // A parser that sees the end elsewhere is given the rest.
            let missing = reader.bodyLength - bodyBytes
            let count = missing > 0 ? min(missing, rest.readableBytes) : rest.readableBytes
            bodyBytes += count
            return piece(count)
        }
    }

    /// The next byte begins a new request.
    func reset() {
        hasBegun = false
        lineHasEnded = false
        lineBytes = 0
        presentLine = 0
        bodyBytes = 0
        chunks = ChunkLines()
    }

    private func piece(_ count: Int) -> Piece? {
        guard let bytes = rest.readSlice(length: count) else { return nil }
        if rest.readableBytes == 0 { rest = ByteBuffer() }
        return .bytes(bytes)
    }

    /// How many of the bytes belong to the head, its empty line among them.
    private func headPart() -> Int {
        hasBegun = true
        return rest.withUnsafeReadableBytes { bytes in
            var start = 0
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let isEmpty = presentLine + end - start <= 1
                if !lineHasEnded {
                    lineBytes += end - start
                    lineHasEnded = !isEmpty
                } else if isEmpty {
                    presentLine = 0
                    return end + 1
                }
                presentLine = 0
                start = end + 1
            }
            presentLine += bytes.count - start
            if !lineHasEnded { lineBytes += bytes.count - start }
            return bytes.count
        }
    }
}

/// Sees raw bytes before the parser does, and hands them on as far as the connection takes them.
final class RawInputHandler<Service: GraphQLService>: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: HTTPConnectionHandler<Service>
    /// The client sends nothing more, which is told once all it sent has been.
    private var isEndHeld = false

    init(_ connection: HTTPConnectionHandler<Service>) { self.connection = connection }

    func handlerAdded(context: ChannelHandlerContext) {
        connection.input.forward = { [self] in context.fireChannelRead(wrapInboundOut($0)) }
        connection.input.emptied = { [self] in
            guard isEndHeld else { return }
            isEndHeld = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connection.input.forward = nil
        connection.input.emptied = nil
    }

    /// What came after the last request belongs to who takes its place.
    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        let rest = connection.input.takeAll()
        if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
        context.leavePipeline(removalToken: removalToken)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { connection.received(unwrapInboundIn(data)) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent, connection.input.count > 0 {
            isEndHeld = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
