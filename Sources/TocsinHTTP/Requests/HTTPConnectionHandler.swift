import GraphQLTransport
import HTTPTypes
import NIOCore
import NIOHTTP1

/// What waits for its turn to be answered.
private enum Pending {
    case request(IncomingRequest)
    case refusal(HTTPRefusal, isRouted: Bool)
}

/// What a connection waits for.
enum ConnectionWait {
    case idle, head, body, answer, linger
}

/// One HTTP connection: reads requests, has them answered one after the other in their order, keeps its time limits.
///
/// Confined to its event loop. Each request is one task on that loop.
final class HTTPConnectionHandler<Service: GraphQLService>: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    typealias Wait = ConnectionWait

    let parts: ServerParts<Service>
    let input = RawInput()
    let isWelcome: Bool
    var context: ChannelHandlerContext?
    private let connectionNumber: Int
    private let executor: LoopExecutor
    let deadline: ConnectionDeadline
    let writer: WatchedWriter
    let reader: RequestReader
    private var waiting = CircularBuffer<Pending>(initialCapacity: 1)
    /// The request being answered, and its task once that has waited for something.
    private(set) var running: (request: IncomingRequest, task: Task<Void, Never>?)?
    /// The running request's answer, where it is a stream that has begun.
    var stream: EventStream<Service>?
    var wait: Wait?
    private var isHoldingRead = false
    /// A request of what is being read now was begun at once.
    private var hasBegunOne = false

    init(
        _ parts: ServerParts<Service>,
        channel: any Channel,
        admission: (isWelcome: Bool, number: Int)
    ) {
        self.parts = parts
        isWelcome = admission.isWelcome
        connectionNumber = admission.number
        executor = parts.deliveries.delivery(on: channel.eventLoop).executor
        deadline = ConnectionDeadline(channel.eventLoop)
        writer = WatchedWriter(channel, settings: parts.settings)
        reader = RequestReader(
            parts.headCheck,
            remoteAddress: channel.remoteAddress?.ipAddress,
            connectionNumber: admission.number
        )
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline.cancel()
        writer.stop()
        running?.task?.cancel()
        running = nil
        stopStream()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        deadline.set(milliseconds: parts.settings.headMilliseconds) { [self] in timeIsUp() }
        wait = .head
        if !isWelcome {
            refuse(HTTPRefusal(.serviceUnavailable, "The server has too many connections. Try again.", .unavailable))
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        running?.task?.cancel()
        running = nil
        stopStream()
        waiting.removeAll()
        deadline.cancel()
        writer.stop()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { take(reader.read(data)) }

    /// Does what follows from a part of a request.
    func take(_ outcome: RequestReader.Outcome) {
        switch outcome {
        case .partial: break
        case .awaitsContinue:
            guard running == nil, waiting.isEmpty else { break }
            write(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n"))
        case .complete(let request):
            input.reset()
            guard running == nil, waiting.isEmpty, !hasBegunOne else {
                waiting.append(.request(request))
                return startNext()
            }
            // Further requests of one read wait for turns of the loop, so that other connections have theirs.
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

    /// A client that sends ahead of our answers is read only so far.
    func read(context: ChannelHandlerContext) {
        if waiting.count >= 8 {
            isHoldingRead = true
        } else {
            context.read()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .refused = reader.phase { return }
        let refusal = HTTPRefusal.refusal(of: error, input, parts.settings)
        if let refusal { refuse(refusal) } else { inputEnded() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ServerStops, let stream { stream.shutdown() }
        if event is ServerStops, running == nil, waiting.isEmpty, case .head = reader.phase, !input.hasBegun {
            context.close(mode: .all, promise: nil)
        }
        if case .inputClosed? = event as? ChannelEvent { inputEnded() }
        context.fireUserInboundEventTriggered(event)
    }

    /// Nothing more is read.
    ///
    /// A request that may have changed something is still answered; a client that asked only to read, or for nothing, or
    /// that follows a stream counts as gone.
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

    private func startNext() {
        guard running == nil, let next = waiting.popFirst() else { return }
        if isHoldingRead, waiting.count < 8 {
            isHoldingRead = false
            context?.read()
        }
        switch next {
        case .request(let request): start(request, atOnce: false)
        case .refusal(let refusal, let isRouted):
            let response = OutgoingResponse(refusal, isRouted: isRouted)
            parts.accessLog.recordRefusal(response, connection: connectionNumber)
            send(response, RequestTraits())
        }
    }

    private func start(_ request: IncomingRequest, atOnce: Bool) {
        guard !WebSocketUpgrade.isWanted(by: request) else { return upgrade(request) }
        guard context != nil else { return }
        running = (request, nil)
        waitFor(.answer)
        // The task is on the connection's loop from its beginning to its end, by its executor's preference.
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
        running = nil
        parts.accessLog.record(request, response)
        send(response, traits(of: request, response))
    }

    func traits(of request: IncomingRequest, _ response: OutgoingResponse) -> RequestTraits {
        // After a request that offers an upgrade the parser takes no more requests.
        var isLast = response.closes || parts.registry.isStopping || request.fields.has(.upgrade)
        if case .refused = reader.phase, waiting.isEmpty { isLast = true }
        if response.isStreamed, request.head.isHTTP10 { isLast = true }
        return RequestTraits(
            keepsAlive: request.head.keepsAlive && !isLast && request.method != .connect,
            isHTTP10: request.head.isHTTP10,
            isHead: request.method == .head
        )
    }

    private func send(_ response: OutgoingResponse, _ traits: RequestTraits) {
        guard let context else { return }
        let date = parts.date.text
        let rest = writer.writeAtOnce(room: response.room(for: traits, date)) {
            response.write(into: $0, for: traits, date)
        }
        guard traits.keepsAlive else {
            endInput()
            return writeRest(rest) { context.channel.close(mode: .output, promise: nil) }
        }
        writeRest(rest)
        startNext()
        awaitInput()
    }

    /// The running request has been answered in full by a stream.
    func finished(keepsAlive: Bool) {
        running = nil
        guard keepsAlive else {
            endInput()
            context?.channel.close(mode: .output, promise: nil)
            return
        }
        startNext()
        awaitInput()
    }

    /// Nothing more is read; the peer has a moment to take what was written.
    private func endInput() {
        reader.refuse()
        waiting.removeAll()
        waitFor(.linger)
    }

    private func stopStream() {
        stream?.stop()
        stream = nil
    }

    func write(_ buffer: ByteBuffer, then next: (() -> Void)? = nil) {
        var rest = buffer
        writeRest(writer.writeAtOnce(&rest) ? nil : rest, then: next)
    }

    /// Writes what the socket did not take at once.
    private func writeRest(_ rest: ByteBuffer?, then next: (() -> Void)? = nil) {
        guard let context else { return }
        guard let rest else {
            next?()
            return
        }
        writer.write(rest, context) { isWritten in
            if isWritten { next?() }
        }
    }
}
