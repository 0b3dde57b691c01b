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
    /// The target of the request that is coming in, once its head is there.
    private var target: String?
    private var requestNumber = 0

    init(_ check: RequestHeadCheck, remoteAddress: String?, connectionNumber: Int) {
        self.check = check
        connection = RequestHead.Connection(remoteAddress: remoteAddress, number: connectionNumber)
    }

    func read(_ data: NIOAny) -> Outcome {
        let part = unwrapInboundIn(data)
        switch (phase, part) {
        case (.refused, _): return .partial
        case (_, .head(let head)): return begin(head)
        case (_, .body(let bytes)): return append(bytes)
        case (_, .end): return end()
        }
    }

    /// Takes nothing more.
    func refuse() { phase = .refused }

    /// The path of the request that is coming in, once its head is there.
    var path: String? { target.map { String($0.prefix { $0 != "?" }) } }

    private func begin(_ head: HTTPRequestHead) -> Outcome {
        target = head.uri
        let headers = head.headers
        do throws(HTTPRefusal) {
            let known = try checked(head)
            let length = try check.bodyLength(known.fields, in: headers)
            requestNumber += 1
            present = (known, headers, .now())
            phase = .body
            return known.expectsContinue && (known.hasChunks || length > 0) ? .awaitsContinue : .partial
        } catch {
            phase = .refused
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

    private func append(_ bytes: ByteBuffer) -> Outcome {
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

    private func end() -> Outcome {
        guard let (head, headers, startedAt) = present.take() else { return .partial }
        let request = IncomingRequest(head, headers, body: body, startedAt: startedAt, number: requestNumber)
        body = ByteBuffer()
        target = nil
        phase = .head
        return .complete(request)
    }
}
