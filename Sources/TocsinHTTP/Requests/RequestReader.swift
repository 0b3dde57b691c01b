import Encodings
import GraphQLTransport
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Puts the parts of requests together: head, body within its limit, end.
///
/// Not in the pipeline itself; a handler, so that NIO unwraps the parts for a type that is
/// known when this is compiled.
final class RequestReader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    /// What a part brought.
    enum Outcome {
        /// More must come.
        case partial
        /// The end of a request that had been answered.
        case passedOver
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

    /// A request whose head is there.
    private struct Present {
        let head: RequestHead
        let headers: HTTPHeaders
        let startedAt = NIODeadline.now()
        /// The length of the body, where it does not come in chunks.
        let length: Int
        /// What the body may have, in bytes.
        let maximum: Int
        var body = ByteBuffer()
        var share: MemoryShare?
        /// Whose body it is, once that has been judged.
        var holder: MemoryHolder?
        /// It has been answered: its body is passed over.
        var isAnswered = false
    }

    /// Larger heads are not kept until the next request, so that connections that
    /// wait take little memory.
    private static let maximumKeptBytes = 4096
    /// Longer bodies of requests that were answered already are not waited for.
    private static let maximumSkippedBytes = 65_536

    private(set) var phase = Phase.head
    private(set) var connection: RequestHead.Connection
    private let rules: CurrentRules
    private let check: RequestHeadCheck
    private let budget: MemoryBudget
    /// The head of the last request that was taken, which the next one's may be like.
    private var last: RequestHead?
    private var present: Present?
    /// The target of a head that was refused.
    private var refusedTarget: String?
    private var requestNumber = 0

    init(
        _ check: RequestHeadCheck,
        _ connection: RequestHead.Connection,
        _ rules: CurrentRules,
        _ budget: MemoryBudget
    ) {
        self.check = check
        self.connection = connection
        self.rules = rules
        self.budget = budget
    }

    func read(_ data: NIOAny) -> Outcome {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head): return begin(head)
        case .body(let bytes): return append(bytes)
        case .end: return end()
        }
    }

    /// Takes nothing more.
    func refuse() {
        phase = .refused
        present?.body = ByteBuffer()
        present?.share = nil
    }

    /// Who sends the request that is coming in, or the last one.
    var client: IPAddress? { present?.head.client ?? last?.client ?? connection.peer }

    /// The path of the request that is coming in, once its head is there.
    var path: String? { present?.head.path ?? refusedTarget.map { path(of: $0) } }

    private func path(of target: String) -> String {
        check.settings.innerPath(String(target.prefix { $0 != "?" }))
    }

    /// The id of the request that is coming in, or of the one that was not taken.
    var requestID: String {
        present.map { $0.head.id(ofRequest: requestNumber, $0.headers) }
            ?? connection.id(ofRequest: requestNumber + 1)
    }

    private func begin(_ head: HTTPRequestHead) -> Outcome {
        guard phase != .refused else { return .partial }
        if connection.take(rules.value) { last = nil }
        do throws(HTTPRefusal) {
            let known = try checked(head)
            let own = ownMaximum(of: known, head.headers)
            let length = try check.bodyLength(
                known.fields,
                in: head.headers,
                maximum: own == nil ? check.settings.maximumBodyBytes : .max
            )
            requestNumber += 1
            let maximum = own ?? check.settings.maximumBodyBytes
            present = Present(head: known, headers: head.headers, length: length, maximum: maximum)
            phase = .body
            return .partial
        } catch {
            phase = .refused
            refusedTarget = head.uri
            return .refused(error)
        }
    }

    /// What the body may have where its route says so; a route that says more answers itself those
    /// who announce too much.
    private func ownMaximum(of head: RequestHead, _ headers: HTTPHeaders) -> Int? {
        let length = head.fields.value(.contentLength, in: headers)
        guard length != nil || head.hasChunks else { return nil }
        return rules.value.maximumBodyBytes(at: head.path, head.method)
    }

    /// The last head where it covers this one; else this one, checked.
    private func checked(_ head: HTTPRequestHead) throws(HTTPRefusal) -> RequestHead {
        if let last, last.covers(head, maximumBytes: check.settings.maximumHeadBytes) { return last }
        let new = RequestHead(head, try check.checked(head), of: connection)
        last = new.fields.bytes <= Self.maximumKeptBytes ? new : nil
        return new
    }

    /// Takes a part of the body.
    private func append(_ bytes: ByteBuffer) -> Outcome {
        guard phase != .refused, present?.isAnswered == false else { return .partial }
        let count = present?.body.readableBytes ?? 0
        guard let maximum = present?.maximum, count + bytes.readableBytes <= maximum else {
            let maximum = present?.maximum ?? check.settings.maximumBodyBytes
            refuse()
            return .refused(HTTPRefusal.bodyTooLarge(maximum))
        }
        if count == 0 {
            self.present?.body = bytes
        } else {
            self.present?.body.writeImmutableBuffer(bytes)
        }
        guard hold() else {
            let refusal = memoryRefusal
            refuse()
            return .refused(refusal)
        }
        return .partial
    }

    /// Ends the request, whose body is there.
    private func end() -> Outcome {
        guard phase != .refused, let present = present.take() else { return .partial }
        phase = .head
        return present.isAnswered ? .passedOver : .complete(request(present, present.body))
    }

    private func request(_ present: Present, _ body: ByteBuffer) -> IncomingRequest {
        IncomingRequest(
            present.head,
            present.headers,
            body: body,
            share: present.share,
            startedAt: present.startedAt,
            id: present.head.id(ofRequest: requestNumber, present.headers)
        )
    }

    /// What is said where more of one's waits than may, at the path of the request that comes in.
    var memoryRefusal: HTTPRefusal {
        let head = present?.head
        let status = head.flatMap { rules.value.overloadStatus(at: $0.path, $0.method) }
        return status.map { HTTPRefusal.tooMuchMemory($0) } ?? .tooMuchMemory
    }

    /// Counts the body twice: what is read of it stands beside it.
    private func hold() -> Bool {
        let bytes = 2 * (present?.body.readableBytes ?? 0)
        guard bytes > MemoryShare.freeBytes else { return true }
        let share = present?.share ?? MemoryShare(budget)
        present?.share = share
        return share.hold(bytes, for: present?.holder ?? .address(client))
    }
}

// The body of a request whose head is there.
extension RequestReader {
    var hasChunks: Bool { present?.head.hasChunks ?? false }

    var bodyLength: Int { present?.length ?? 0 }

    /// The request that is coming in, without its body, while nobody has judged who may send one.
    var unjudged: IncomingRequest? {
        guard phase == .body, let present, present.holder == nil, !present.isAnswered else { return nil }
        return request(present, ByteBuffer())
    }

    /// The client waits to be told to send the body.
    var awaitsContinue: Bool { present.map { $0.head.expectsContinue && $0.body.readableBytes == 0 } ?? false }

    /// The request has been answered, and its body is passed over.
    var isPassingOver: Bool { present?.isAnswered ?? false }

    /// The body is this one's to send; false where more waits than may.
    func admit(_ holder: MemoryHolder) -> Bool {
        present?.holder = holder
        return hold()
    }

    /// Passes over the body of a request that has been answered; false where it is not waited for.
    func passOver() -> Bool {
        guard let present, !present.head.hasChunks, !present.head.expectsContinue,
            present.length <= Self.maximumSkippedBytes
        else { return false }
        self.present?.body = ByteBuffer()
        self.present?.share = nil
        self.present?.isAnswered = true
        return true
    }
}

extension HTTPRefusal {
    /// More of one's requests, answers and queues wait than may.
    static let tooMuchMemory = tooMuchMemory(.tooManyRequests)

    static func tooMuchMemory(_ status: HTTPResponse.Status) -> HTTPRefusal {
        HTTPRefusal(
            status,
            "Too much of your requests and answers waits in memory. Read your answers, and send less at once.",
            .limit
        )
    }
}
