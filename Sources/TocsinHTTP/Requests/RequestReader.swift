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
    /// The path of the request that is coming in, once its head is there.
    private(set) var path: Substring?
    private var request: IncomingRequest?
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

    private mutating func begin(_ head: HTTPRequestHead) -> Outcome {
        path = head.uri.prefix { $0 != "?" }
        let verdict: RequestHeadCheck.Verdict
        do {
            verdict = try RequestHeadCheck(settings: settings).verdict(on: head)
        } catch {
            phase = .refused
            return .refused(error)
        }
        guard let method = HTTPRequest.Method(head.method.rawValue) else {
            phase = .refused
            return .refused(HTTPRefusal(.notImplemented, "This method is not served.", .badRequest))
        }
        requestNumber += 1
        request = IncomingRequest(
            method: method,
            path: verdict.path,
            queryString: verdict.queryString,
            body: ByteBuffer(),
            remoteAddress: remoteAddress,
            headers: head.headers,
            keepsAlive: head.isKeepAlive,
            isHTTP10: head.version == .http1_0,
            id: "\(connectionNumber)-\(requestNumber)",
            startedAt: .now()
        )
        phase = .body
        return verdict.expectsContinue ? .awaitsContinue : .partial
    }

    private mutating func append(_ bytes: ByteBuffer) -> Outcome {
        guard let have = request?.body.readableBytes, have + bytes.readableBytes <= settings.maximumBodyBytes else {
            phase = .refused
            return .refused(HTTPRefusal.bodyTooLarge(settings))
        }
        if have == 0 {
            request?.body = bytes
        } else {
            var bytes = bytes
            request?.body.writeBuffer(&bytes)
        }
        return .partial
    }

    private mutating func end() -> Outcome {
        guard let complete = request else { return .partial }
        request = nil
        path = nil
        phase = .head
        return .complete(complete)
    }
}
