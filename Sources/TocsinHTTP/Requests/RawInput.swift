import GraphQLTransport
import NIOCore

/// Whether a head has begun to come in, and how long its first line is.
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

/// Sees raw bytes before the parser does, and takes those requests past it whose head is the last one again.
///
/// It must know where requests begin. It does as long as each request that the parser got was there with its head's end in
/// the first read, and ended where a read did: so most clients send. Of others, whose requests run into each other or have
/// their bodies in chunks, the parser gets everything until the connection ends; so it does of those whose heads differ each
/// time.
final class RawInputHandler<Service: GraphQLService>: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Progress {
        /// The next byte begins a request, of which the parser has nothing.
        case between
        /// So many bytes of the body are to come of a request whose head was known.
        case body(missing: Int)
        /// The parser has so many bytes of a request, of which it had nothing before.
        case parsing(bytes: Int)
        /// The parser alone knows where requests begin.
        case unknown
    }

    private let connection: HTTPConnectionHandler<Service>
    private var progress = Progress.between
    /// The head of the request that the parser has; empty where it did not come in whole.
    private var head: [UInt8] = []
    private var last: SentHead?
    /// Heads in a row that were not the last one again.
    private var misses = 0
    /// After so many none is expected to be.
    private var mostMisses: Int { 8 }

    init(_ connection: HTTPConnectionHandler<Service>) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        while bytes.readableBytes > 0 {
            guard takeKnown(&bytes) else { return parse(bytes, context) }
        }
    }

    /// Takes a head that is known, or what is there of its body; false when these bytes are the parser's.
    private func takeKnown(_ bytes: inout ByteBuffer) -> Bool {
        switch progress {
        case .between:
            let settings = connection.parts.settings
            guard let last, let found = last.match(bytes), found.headBytes <= settings.maximumHeadBytes,
                found.bodyBytes <= settings.maximumBodyBytes
            else { return false }
            misses = 0
            bytes.moveReaderIndex(forwardBy: found.headBytes)
            connection.reader.take(last.head, last.headers)
            expect(found.bodyBytes)
        case .body(let missing):
            guard let part = bytes.readSlice(length: min(missing, bytes.readableBytes)) else { return false }
            connection.take(connection.reader.append(part))
            expect(missing - part.readableBytes)
        case .parsing, .unknown: return false
        }
        return true
    }

    /// Goes on to what follows when so many bytes of the body are to come.
    private func expect(_ missing: Int) {
        progress = missing == 0 ? .between : .body(missing: missing)
        if missing == 0 { connection.take(connection.reader.end()) }
    }

    private func parse(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        connection.input.received(bytes)
        switch progress {
        case .between:
            head = Self.head(of: bytes, maximumBytes: connection.parts.settings.maximumHeadBytes)
            progress = .parsing(bytes: bytes.readableBytes)
        case .parsing(let count): progress = .parsing(bytes: count + bytes.readableBytes)
        case .body, .unknown: break
        }
        context.fireChannelRead(wrapInboundOut(bytes))
        if let request = connection.reader.takeParsed() { learn(from: request) }
    }

    /// Finds out whether the request that the parser has just brought to its end is all that it has had.
    private func learn(from request: IncomingRequest) {
        guard case .parsing(let count) = progress else { return }
        misses += 1
        let isAll = !head.isEmpty && count == head.count + request.body.readableBytes && request.head.keepsAlive
        let goesOn = isAll && misses <= mostMisses
        progress = goesOn && !request.head.fields.has(.upgrade) ? .between : .unknown
        last = goesOn ? SentHead(head, of: request) : nil
        head = []
    }

    /// The head that a request begins with, to its empty line; empty where that is not there, or some line does not end as
    /// lines do: then the parser may see the end elsewhere.
    private static func head(of bytes: ByteBuffer, maximumBytes: Int) -> [UInt8] {
        bytes.withUnsafeReadableBytes { bytes in
            var lineStart = 0
            for place in bytes.indices.prefix(maximumBytes) where bytes[place] == UInt8(ascii: "\n") {
                guard place > lineStart, bytes[place - 1] == UInt8(ascii: "\r") else { return [] }
                if place == lineStart + 1, lineStart > 0 { return Array(bytes[...place]) }
                lineStart = place + 1
            }
            return []
        }
    }
}
