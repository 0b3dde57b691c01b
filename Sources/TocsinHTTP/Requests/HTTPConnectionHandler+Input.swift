import Encodings
import GraphQLTransport
import HTTPTypes
import NIOCore

/// What a client sent and the parser has not had yet, handed on in pieces that end
/// where a head or a body does.
///
/// So nothing of a request is parsed before the one in front of it is taken, and what a client
/// sends ahead waits as bytes. Where a request ends the parser says; what is found here are only
/// the offsets at which to look up.
///
/// The parser alone could not do with less: it parses all that one read brought, which may be
/// 900 requests of 18 bytes, and each takes thirty times its bytes when it is parsed. Nor does
/// it tell how long the first line is when it gives a head up, that a head has begun, or how
/// long a chunk's extension is.
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

/// The question who may send the body that is coming in.
struct BodyJudgement {
    let request: IncomingRequest
    /// Known once the answer has to be waited for.
    var task: Task<Void, Never>?
}

// What is read, and how far.
extension HTTPConnectionHandler {
    /// Bytes of answers that may wait for the peer before its next request is looked at.
    static var maximumWaitingBytes: Int { 65_536 }
    /// Requests that may wait to be answered.
    private static var maximumRequests: Int { 16 }
    /// Bytes that may wait to be parsed; the system brings more than we asked for when the peer
    /// ends its output.
    private static var maximumUnparsedBytes: Int { 131_072 }

    /// Whether the peer has taken enough of its answers for one more.
    var hasRoom: Bool { writer.inFlightBytes < Self.maximumWaitingBytes }

    /// Whether more is to be parsed now.
    var takesInput: Bool {
        if case .refused = reader.phase { return true }
        let requests = waiting.count + (running == nil ? 0 : 1)
        return judgement == nil && !hasUpgrade && requests < Self.maximumRequests && hasRoom
    }

    /// Takes what the peer sent.
    func received(_ bytes: ByteBuffer) {
        input.append(bytes)
        feed()
        guard input.count > Self.maximumUnparsedBytes else { return }
        context?.close(mode: .all, promise: nil)
    }

    /// Goes on with what waits: answers, then input that was not taken.
    func goOn() {
        startNext()
        if input.count > 0, !isFeeding {
            // As in a read: the loop has other connections.
            hasBegunOne = true
            feed()
            hasBegunOne = false
        }
        if isHoldingRead, takesInput, input.count == 0, let context {
            isHoldingRead = false
            context.read()
        }
        awaitInput()
    }

    private func feed() {
        guard !isFeeding else { return }
        isFeeding = true
        while takesInput, let forward = input.forward, let piece = input.next(for: reader) {
            switch piece {
            case .bytes(let bytes): forward(bytes)
            case .refused(let refusal): refuse(refusal)
            }
        }
        isFeeding = false
        guard input.count == 0 else { return }
        judgeBody()
        input.emptied?()
    }
}

// Who may send a body.
extension HTTPConnectionHandler {
    /// Finds out by the head of a request whether its body is to be read, where
    /// it is not there already.
    private func judgeBody() {
        guard judgement == nil, let context, let request = reader.unjudged else { return }
        guard isCounted(request) else { return refuse(.tooManyConnections) }
        judgement = BodyJudgement(request: request)
        // The task is on the connection's loop from its beginning to its end, by
        // its executor's preference.
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let responder = parts.responder
        let task = Task.immediate(executorPreference: executor) {
            let admission = await responder.admission(of: request)
            handler.value.judged(request, admission)
        }
        // What waits for nothing has been judged by now.
        guard judgement?.request === request else { return }
        judgement?.task = task
        if running == nil, waiting.isEmpty { waitFor(.answer) }
    }

    private func judged(_ request: IncomingRequest, _ admission: BodyAdmission) {
        guard judgement?.request === request else { return }
        judgement = nil
        switch admission {
        case .admitted(let owner):
            guard reader.admit(owner.map(MemoryHolder.owner) ?? .address(reader.client)) else {
                return refuse(reader.memoryRefusal)
            }
            registration?.standing = .busy
            if reader.awaitsContinue, running == nil, waiting.isEmpty {
                write(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n"))
            }
        case .refused(var response):
            if !reader.passOver() {
                reader.refuse()
                response.closes = true
            }
            answerUnread(request, with: response)
        }
        goOn()
    }

    func judgementTookTooLong() {
        guard let judgement else { return }
        judgement.task?.cancel()
        self.judgement = nil
        refuse(HTTPRefusal(.serviceUnavailable, HTTPRefusal.tooLong, .timeout))
    }

    /// Counts the connection of a proxy for the client that it names; false where
    /// that client has too many.
    func isCounted(_ request: IncomingRequest) -> Bool {
        guard reader.connection.proxies != nil, let client = request.clientAddress?.client, let registration else {
            return true
        }
        // A proxy that names nobody is not counted, as it is not for itself.
        guard client != countedClient, client != reader.connection.peer?.client else { return true }
        guard parts.registry.count(registration, as: client) else { return false }
        countedClient = client
        return true
    }
}

extension HTTPRefusal {
    /// The client's address, or the server, has no more connections.
    static let tooManyConnections = HTTPRefusal(
        .serviceUnavailable,
        "The server has too many connections. Try again.",
        .unavailable
    )
}
