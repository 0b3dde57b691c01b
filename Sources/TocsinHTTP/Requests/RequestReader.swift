import GraphQLTransport
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Puts the parts of requests together: head, body within its limit, end.
///
/// Not in the pipeline itself; a handler, so that NIO unwraps the parts for a type that is known when this is compiled.
final class RequestReader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    /// What a part brought.
    enum Outcome {
        /// More must come.
        case partial
        /// More must come, and the client waits to be told to send it.
        case awaitsContinue
        /// A request is complete.
        case complete(IncomingRequest)
        /// The request is refused; nothing after it can be trusted.
        case refused(HTTPRefusal)
    }

    /// How far the present request is.
    enum Phase {
        case head
        case body
        case refused
    }

    /// Larger heads are not kept until the next request, so that connections that wait take little memory.
    private static let maximumKeptBytes = 4096

    private(set) var phase = Phase.head
    private let check: RequestHeadCheck
    private let connection: RequestHead.Connection
    /// The head of the last request that was taken, which the next one's may be like.
    private var last: RequestHead?
    /// What is there of the present request, once its head is.
    private var present: (head: RequestHead, headers: HTTPHeaders, startedAt: NIODeadline)?
    private var body = ByteBuffer()
    /// The target of a head that was refused.
    private var refusedTarget: String?
    private var requestNumber = 0
    /// The last request that the parser has brought to its end, until it is asked for.
    private var parsed: IncomingRequest?

    init(_ check: RequestHeadCheck, remoteAddress: String?, connectionNumber: Int) {
        self.check = check
        connection = RequestHead.Connection(remoteAddress: remoteAddress, number: connectionNumber)
    }

    func read(_ data: NIOAny) -> Outcome {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head): return begin(head)
        case .body(let bytes): return append(bytes)
        case .end:
            let outcome = end()
            if case .complete(let request) = outcome { parsed = request }
            return outcome
        }
    }

    /// A request that the parser has brought to its end since this was last asked.
    func takeParsed() -> IncomingRequest? { parsed.take() }

    /// Begins a request of this head, which was checked when it came first.
    func take(_ head: RequestHead, _ headers: HTTPHeaders) {
        guard phase != .refused else { return }
        requestNumber += 1
        present = (head, headers, .now())
        phase = .body
    }

    /// Takes nothing more.
    func refuse() { phase = .refused }

    /// The path of the request that is coming in, once its head is there.
    var path: String? { present?.head.path ?? refusedTarget.map { String($0.prefix { $0 != "?" }) } }

    private func begin(_ head: HTTPRequestHead) -> Outcome {
        guard phase != .refused else { return .partial }
        do throws(HTTPRefusal) {
            let known = try checked(head)
            let length = try check.bodyLength(known.fields, in: head.headers)
            take(known, head.headers)
            return known.expectsContinue && (known.hasChunks || length > 0) ? .awaitsContinue : .partial
        } catch {
            phase = .refused
            refusedTarget = head.uri
            return .refused(error)
        }
    }

    /// The last head where it covers this one; else this one, checked.
    private func checked(_ head: HTTPRequestHead) throws(HTTPRefusal) -> RequestHead {
        if let last, last.covers(head, maximumBytes: check.settings.maximumHeadBytes) { return last }
        let new = RequestHead(head, try check.verdict(on: head), of: connection)
        last = new.fields.bytes <= Self.maximumKeptBytes ? new : nil
        return new
    }

    /// Takes a part of the body.
    func append(_ bytes: ByteBuffer) -> Outcome {
        guard phase != .refused else { return .partial }
        guard present != nil, body.readableBytes + bytes.readableBytes <= check.settings.maximumBodyBytes else {
            phase = .refused
            return .refused(HTTPRefusal.bodyTooLarge(check.settings))
        }
        if body.readableBytes == 0 {
            body = bytes
        } else {
            var bytes = bytes
            body.writeBuffer(&bytes)
        }
        return .partial
    }

    /// Ends the request, whose body is there.
    func end() -> Outcome {
        guard phase != .refused, let (head, headers, startedAt) = present.take() else { return .partial }
        let request = IncomingRequest(head, headers, body: body, startedAt: startedAt, number: requestNumber)
        body = ByteBuffer()
        phase = .head
        return .complete(request)
    }
}
