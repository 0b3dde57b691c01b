import GraphQLTransport
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Puts the parts of requests together: head, body within its limit, end.
struct RequestReader {
    /// What a part brought.
    enum Outcome {
        /// More must come.
        case partial
        /// More must come, and the client waits to be told to send it.
        case awaitsContinue
        /// A request is complete; `endsHTTP` says that what follows is not HTTP.
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

    let settings: HTTPServerSettings
    let remoteAddress: String?
    let connectionNumber: Int
    private(set) var phase = Phase.head
    private var head: IncomingRequest.Head?
    private var body = ByteBuffer()
    /// The target of the request that is coming in, once its head is there.
    private var target: String?
    private var requestNumber = 0

    init(settings: HTTPServerSettings, remoteAddress: String?, connectionNumber: Int) {
        self.settings = settings
        self.remoteAddress = remoteAddress
        self.connectionNumber = connectionNumber
    }

    mutating func read(_ part: HTTPServerRequestPart) -> Outcome {
        switch (phase, part) {
        case (.refused, _): return .partial
        case (_, .head(let head)): return begin(head)
        case (_, .body(let bytes)): return append(bytes)
        case (_, .end): return end()
        }
    }

    /// Takes nothing more.
    mutating func refuse() { phase = .refused }

    /// The path of the request that is coming in, once its head is there.
    var path: String? { target.map { String($0.prefix { $0 != "?" }) } }

    private mutating func begin(_ head: HTTPRequestHead) -> Outcome {
        target = head.uri
        let verdict: RequestHeadCheck.Verdict
        do {
            verdict = try RequestHeadCheck(settings: settings).verdict(on: head)
        } catch {
            phase = .refused
            return .refused(error)
        }
        guard let method = Self.method(of: head) else {
            phase = .refused
            return .refused(HTTPRefusal(.notImplemented, "This method is not served.", .badRequest))
        }
        requestNumber += 1
        self.head = IncomingRequest.Head(
            method: method,
            verdict: verdict,
            headers: head.headers,
            keepsAlive: head.isKeepAlive,
            isHTTP10: head.version == .http1_0,
            startedAt: .now()
        )
        phase = .body
        return verdict.expectsContinue ? .awaitsContinue : .partial
    }

    private static func method(of head: HTTPRequestHead) -> HTTPRequest.Method? {
        switch head.method {
        case .GET: .get
        case .POST: .post
        default: HTTPRequest.Method(head.method.rawValue)
        }
    }

    private mutating func append(_ bytes: ByteBuffer) -> Outcome {
        guard head != nil, body.readableBytes + bytes.readableBytes <= settings.maximumBodyBytes else {
            phase = .refused
            return .refused(HTTPRefusal.bodyTooLarge(settings))
        }
        if body.readableBytes == 0 {
            body = bytes
        } else {
            var bytes = bytes
            body.writeBuffer(&bytes)
        }
        return .partial
    }

    private mutating func end() -> Outcome {
        guard let head else { return .partial }
        let request = IncomingRequest(
            head,
            body: body,
            remoteAddress: remoteAddress,
            connectionNumber: connectionNumber,
            number: requestNumber
        )
        self.head = nil
        body = ByteBuffer()
        target = nil
        phase = .head
        return .complete(request)
    }
}
