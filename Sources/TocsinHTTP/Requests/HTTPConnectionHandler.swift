import Encodings
import GraphQLTransport
import HTTPTypes
import Metrics
import NIOCore
import NIOHTTP1
import NIOSSL

/// What waits for its turn to be answered.
enum PendingAnswer {
    case request(IncomingRequest)
    case refusal(HTTPRefusal, isRouted: Bool)
    /// A request that was answered before its body.
    case answered(IncomingRequest, OutgoingResponse)
}

/// What a connection waits for.
enum ConnectionWait {
    case idle, head, body, answer, linger
}

/// One HTTP connection: reads requests, has them answered one after the other in their
/// order, keeps its time limits.
///
/// Confined to its event loop. Each request is one task on that loop.
final class HTTPConnectionHandler<Service: GraphQLService>: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    typealias Wait = ConnectionWait

    let parts: ServerParts<Service>
    let input = RawInput()
    /// Where the connection stands among all; nil where it is turned away.
    let registration: ConnectionRegistration?
    var context: ChannelHandlerContext?
    let executor: LoopExecutor
    let deadline: ConnectionDeadline
    let writer: WatchedWriter
    let reader: RequestReader
    private(set) var waiting = CircularBuffer<PendingAnswer>(initialCapacity: 1)
    /// The request being answered, and its task once that has waited for something.
    private(set) var running: (request: IncomingRequest, task: Task<Void, Never>?)?
    /// The running request's answer, where it is a stream that has begun.
    var stream: EventStream<Service>? {
        didSet {
            guard (oldValue == nil) != (stream == nil) else { return }
            parts.settings.metrics?.streams.add(stream == nil ? -1 : 1)
        }
    }
    var wait: Wait?
    /// Who may send the body that is coming in is being found out.
    var judgement: BodyJudgement?
    /// The last one who was answered had been let in.
    private var isLetIn = false
    /// What the answers that wait have of the memory budget.
    private var answers: MemoryShare?
    private var answersHolder = MemoryHolder.address(nil)
    var isHoldingRead = false
    var isFeeding = false
    /// A request of what is being read now was begun at once.
    var hasBegunOne = false
    /// A request that offers an upgrade is the last one that is read.
    private(set) var hasUpgrade = false
    /// The client for whom the connection of a proxy is counted.
    var countedClient: IPAddress?

    init(
        _ parts: ServerParts<Service>,
        channel: any Channel,
        _ connection: RequestHead.Connection,
        _ registration: ConnectionRegistration?
    ) {
        self.parts = parts
        self.registration = registration
        executor = parts.broadcasters.broadcaster(on: channel.eventLoop).executor
        deadline = ConnectionDeadline(channel.eventLoop)
        writer = WatchedWriter(channel, settings: parts.settings)
        reader = RequestReader(parts.headCheck, connection, parts.responder.rules, parts.budget)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline.cancel()
        writer.stop()
        forgetRequests()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        deadline.set(milliseconds: parts.settings.headMilliseconds) { [self] in timeIsUp() }
        wait = .head
        if registration == nil {
            refuse(.tooManyConnections)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        forgetRequests()
        deadline.cancel()
        writer.stop()
        context.fireChannelInactive()
    }

    private func forgetRequests() {
        running?.task?.cancel()
        endRunning()
        judgement?.task?.cancel()
        judgement = nil
        stopStream()
        waiting.removeAll()
        answers = nil
    }

    /// The running request, if there is one, is over.
    private func endRunning() {
        guard running != nil else { return }
        running = nil
        parts.settings.metrics?.active.add(-1)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { take(reader.read(data)) }

    /// Does what follows from a part of a request.
    func take(_ outcome: RequestReader.Outcome) {
        switch outcome {
        case .partial: break
        case .passedOver: input.reset()
        case .complete(let request):
            input.reset()
            guard isCounted(request) else { return refuse(.tooManyConnections) }
            hasUpgrade = request.fields.has(.upgrade)
            guard running == nil, waiting.isEmpty, !hasBegunOne, hasRoom else {
                waiting.append(.request(request))
                return startNext()
            }
            // Further requests of one read wait for turns of the loop, so that other
            // connections have theirs.
            hasBegunOne = true
            start(request, atOnce: true)
        case .refused(let refusal): refuse(refusal)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        hasBegunOne = false
        awaitInput()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if takesInput, input.count == 0 {
            context.read()
        } else {
            isHoldingRead = true
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .refused = reader.phase { return }
        if case .handshakeFailed? = error as? NIOSSLError { parts.settings.metrics?.refused[.tls].add() }
        let refusal = HTTPRefusal.refusal(of: error, input, parts.settings)
        if let refusal { refuse(refusal) } else { inputEnded() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let stop = event as? ServerStops, stream != nil {
            context.eventLoop.assumeIsolated().scheduleTask(in: stop.delay) { [self] in stream?.shutdown() }
        }
        if event is ServerStops, running == nil, waiting.isEmpty, case .head = reader.phase, !input.hasBegun {
            context.close(mode: .all, promise: nil)
        }
        if case .inputClosed? = event as? ChannelEvent { inputEnded() }
        context.fireUserInboundEventTriggered(event)
    }

    /// Nothing more is read.
    ///
    /// A request that may have changed something is still answered. A client that only reads, asks
    /// for nothing or follows a stream counts as gone.
    private func inputEnded() {
        reader.refuse()
        if let running, !running.request.isRead, stream == nil { return }
        guard running != nil || waiting.isEmpty else { return }
        context?.close(mode: .all, promise: nil)
    }
}

// Answers in their order.
extension HTTPConnectionHandler {
    /// Answers with this after all that waits, and reads nothing more.
    func refuse(_ refusal: HTTPRefusal) {
        reader.refuse()
        waiting.append(.refusal(refusal, isRouted: reader.path.map(parts.responder.isRouted) ?? false))
        startNext()
    }

    func startNext() {
        guard running == nil, hasRoom, let next = waiting.popFirst() else { return }
        switch next {
        case .request(let request): start(request, atOnce: false)
        case .refusal(let refusal, let isRouted):
            let response = OutgoingResponse(refusal, isRouted: isRouted)
            parts.settings.metrics?.record(refusal)
            let address = reader.client.map { "\($0)" }
            let id = reader.requestID
            parts.accessLog.recordRefusal(response, id: id, address: address)
            send(response, RequestTraits(id: id))
        case .answered(let request, let response): answer(request, with: response)
        }
    }

    /// Answers a request whose body is not read, after all that waits.
    func answerUnread(_ request: IncomingRequest, with response: OutgoingResponse) {
        waiting.append(.answered(request, response))
        startNext()
    }

    private func start(_ request: IncomingRequest, atOnce: Bool) {
        guard !WebSocketUpgrade.isWanted(by: request) else { return upgrade(request) }
        guard context != nil else { return }
        running = (request, nil)
        parts.settings.metrics?.active.add()
        registration?.standing = .busy
        waitFor(.answer)
        // The task is on the connection's loop from its beginning to its end, by
        // its executor's preference.
        nonisolated(unsafe) let answer: (Answer<Service.Caller>) -> Void = { self.finish(request, with: $0) }
        let responder = parts.responder
        let task =
            atOnce
            ? Task.immediate(executorPreference: executor) { await responder.respond(to: request, answer) }
            : Task(executorPreference: executor) { await responder.respond(to: request, answer) }
        // What waits for nothing has been answered by now.
        if running?.request === request { running?.task = task }
    }

    /// Writes the answer if the request still runs.
    private func finish(_ request: IncomingRequest, with answer: Answer<Service.Caller>) {
        guard running?.request === request else { return }
        switch answer {
        case .response(let response): self.answer(request, with: response)
        case .stream(let opening): begin(opening, for: request)
        }
    }

    func answer(_ request: IncomingRequest, with response: OutgoingResponse) {
        endRunning()
        isLetIn = response.isLetIn
        parts.accessLog.record(request, response)
        send(response, traits(of: request, response))
        count(request, response)
    }

    /// Counts a request that has its answer, or the beginning of one.
    func count(_ request: IncomingRequest, _ response: OutgoingResponse) {
        guard let metrics = parts.settings.metrics else { return }
        metrics.record(request, response.status, response.route ?? parts.responder.label(of: request.path))
    }

    func traits(of request: IncomingRequest, _ response: OutgoingResponse) -> RequestTraits {
        // After a request that offers an upgrade the parser takes no more requests.
        var isLast = response.closes || parts.registry.isEnding || request.fields.has(.upgrade)
        if case .refused = reader.phase, waiting.isEmpty { isLast = true }
        if response.isStreamed, request.head.isHTTP10 { isLast = true }
        return RequestTraits(
            id: request.id,
            keepsAlive: request.head.keepsAlive && !isLast && request.method != .connect,
            isHTTP10: request.head.isHTTP10,
            isHead: request.method == .head
        )
    }

    private func send(_ response: OutgoingResponse, _ traits: RequestTraits) {
        guard let context else { return }
        var response = response
        let holder = response.owner.map(MemoryHolder.owner) ?? .address(reader.client)
        if response.body.count > Self.maximumWaitingBytes, !holdAnswers(response.body.count, for: holder) {
            response = OutgoingResponse(.tooMuchMemory)
        }
        let date = parts.date.text
        let rest = writer.writeAtOnce(room: response.room(for: traits, date)) {
            response.write(into: $0, for: traits, date)
        }
        guard traits.keepsAlive else {
            endInput()
            return writeRest(rest, of: holder) { context.channel.close(mode: .output, promise: nil) }
        }
        writeRest(rest, of: holder)
        goOn()
    }

    /// The running request has been answered in full by a stream.
    func finished(keepsAlive: Bool) {
        endRunning()
        guard keepsAlive else {
            endInput()
            context?.channel.close(mode: .output, promise: nil)
            return
        }
        isLetIn = true
        goOn()
    }

    /// Nothing more is read; the peer has a moment to take what was written.
    private func endInput() {
        reader.refuse()
        waiting.removeAll()
        registration?.standing = .stranger
        waitFor(.linger)
    }

    private func stopStream() {
        stream?.stop()
        stream = nil
    }

    func write(_ buffer: ByteBuffer, then next: (() -> Void)? = nil) {
        var rest = buffer
        writeRest(writer.writeAtOnce(&rest) ? nil : rest, of: .address(reader.client), then: next)
    }

    /// Writes what the socket did not take at once.
    private func writeRest(_ rest: ByteBuffer?, of holder: MemoryHolder, then next: (() -> Void)? = nil) {
        guard let context else { return }
        guard let rest else {
            if answers != nil { _ = holdAnswers(writer.inFlightBytes, for: answersHolder) }
            next?()
            return
        }
        guard holdAnswers(writer.inFlightBytes + rest.readableBytes, for: holder) else {
            context.close(mode: .all, promise: nil)
            return
        }
        writer.write(rest, context) { [self] isWritten in
            guard isWritten else { return }
            _ = holdAnswers(writer.inFlightBytes, for: answersHolder)
            next?()
            goOn()
        }
    }

    /// Counts the answers that wait; false where that is more than may.
    private func holdAnswers(_ bytes: Int, for holder: MemoryHolder) -> Bool {
        guard bytes > 0 else {
            answers = nil
            return true
        }
        let share = answers ?? MemoryShare(parts.budget)
        answers = share
        answersHolder = holder
        return share.hold(bytes, for: holder)
    }

    /// How the connection stands while it waits for a request.
    func standsIdle() { registration?.standing = isLetIn ? .known : .stranger }
}
