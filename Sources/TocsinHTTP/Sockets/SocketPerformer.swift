import GraphQLTransport
import NIOCore

/// Performs what a socket's session asks for: the only place where sessions meet the service.
///
/// Confined to its event loop; `stop` must be called in the end.
final class SocketPerformer<Service: GraphQLService> {
    /// What goes to the peer.
    enum Output {
        case text(SocketMessage)
        case pong([UInt8])
        case close(code: UInt16, reason: String)
        /// All that subscriptions brought has been sent.
        case fetched
    }

    /// A started operation.
    private enum Operation {
        /// A query or a mutation.
        case executing(Task<Void, Never>)
        /// A subscription that is being registered.
        case registering(Task<Void, Never>, SocketSink)
        /// A registered subscription.
        case streaming(any StreamHandle, SocketSink)

        func cancel() {
            switch self {
            case .executing(let task): task.cancel()
            case .registering(let task, let sink):
                sink.close()
                task.cancel()
            case .streaming(let handle, let sink):
                sink.close()
                handle.cancel()
            }
        }
    }

    private let parts: ServerParts<Service>
    private let loop: any EventLoop
    private let executor: LoopExecutor
    private let mailbox: SocketMailbox
    private var session: any SocketSession
    private var output: ((Output) -> Void)?
    private var caller: Service.Caller?
    private var authentication: Task<Void, Never>?
    private var operations: [Int: Operation] = [:]
    private var timers: [SessionTimer: ConnectionDeadline] = [:]
    private var expiry: ConnectionDeadline?
    private var socketGroup: String?

    init(_ parts: ServerParts<Service>, _ session: any SocketSession, loop: any EventLoop) {
        self.parts = parts
        self.session = session
        self.loop = loop
        executor = LoopExecutor(loop)
        mailbox = SocketMailbox(loop, maximumBytes: parts.settings.maximumQueueBytes)
    }

    /// Begins the session; what it sends goes to `output`, on the loop.
    func start(output: @escaping (Output) -> Void) {
        self.output = output
        let performer = NIOLoopBound(self, eventLoop: loop)
        mailbox.open { performer.value.fetchLetters() }
        handle(.opened)
    }

    /// Cancels everything; nothing is sent any more.
    func stop() {
        output = nil
        if let socketGroup { parts.socketGroups.leave(socketGroup) }
        socketGroup = nil
        mailbox.close()
        authentication?.cancel()
        let running = operations.values
        operations = [:]
        for operation in running { operation.cancel() }
        for timer in timers.values { timer.cancel() }
        timers = [:]
        expiry?.cancel()
    }

    /// Gives the session an event and does what it asks for.
    func handle(_ event: SessionEvent) {
        for action in session.handle(event) {
            guard let output else { return }
            switch action {
            case .send(let message): output(.text(message))
            case .pongFrame(let payload): output(.pong(payload))
            case .close(let code, let reason):
                output(.close(code: code, reason: reason))
                stop()
            case .authenticate(let credentials): authenticate(credentials)
            case .start(let number, let request): start(number, request)
            case .cancel(let number): operations.removeValue(forKey: number)?.cancel()
            case .setTimer(let timer, let milliseconds): set(timer, milliseconds)
            case .cancelTimer(let timer): timers[timer]?.clear()
            }
        }
    }

    private func fetchLetters() {
        let (letters, hasOverflowed) = mailbox.take()
        for letter in letters {
            switch letter.content {
            case .next(let response): handle(.next(letter.number, response))
            case .end(let reason):
                operations[letter.number] = nil
                handle(.ended(letter.number, reason))
            }
        }
        guard let output else { return }
        guard hasOverflowed else { return output(.fetched) }
        output(.close(code: SocketCloseCode.tryAgainLater.rawValue, reason: Self.tooSlow))
        stop()
    }

    /// Whatever was sent is out.
    func allWritten() { mailbox.allWritten() }

    /// What a peer that does not read is told.
    static var tooSlow: String { "Too much is waiting to be read; come again and resume" }
}

// Credentials and timers.
extension SocketPerformer {
    private func authenticate(_ credentials: Credentials) {
        let performer = NIOLoopBound(self, eventLoop: loop)
        let service = parts.service
        authentication?.cancel()
        authentication = Task(executorPreference: executor) {
            let outcome = await service.authenticate(credentials)
            guard !Task.isCancelled else { return }
            performer.value.authenticated(outcome)
        }
    }

    private func authenticated(_ outcome: AuthenticationOutcome<Service.Caller>) {
        guard output != nil else { return }
        authentication = nil
        switch outcome {
        case .caller(let caller):
            guard enterGroup(of: caller) else {
                let message = "You have too many sockets open; close one first"
                return handle(.authenticated(.unavailable(message: message)))
            }
            self.caller = caller
            handle(.authenticated(.accepted))
            watchExpiry(of: caller)
        case .refused(let message): handle(.authenticated(.refused(message: message)))
        case .unavailable(let message): handle(.authenticated(.unavailable(message: message)))
        }
    }

    private func enterGroup(of caller: Service.Caller) -> Bool {
        guard socketGroup == nil, let group = parts.service.socketGroup(of: caller) else { return true }
        guard parts.socketGroups.enter(group) else { return false }
        socketGroup = group
        return true
    }

    /// Looks again every now and then, as the wall clock may be set.
    private func watchExpiry(of caller: Service.Caller) {
        guard output != nil, let end = parts.service.expiry(of: caller) else { return }
        let left = end - parts.now()
        guard left > 0 else { return handle(.tokenEnded) }
        let timer = expiry ?? ConnectionDeadline(loop)
        expiry = timer
        timer.set(milliseconds: Int(min(left, 3_600_000))) { [self] in watchExpiry(of: caller) }
    }

    private func set(_ timer: SessionTimer, _ milliseconds: Int) {
        let deadline = timers[timer] ?? ConnectionDeadline(loop)
        timers[timer] = deadline
        deadline.set(milliseconds: milliseconds) { [self] in handle(.timer(timer)) }
    }
}

// Operations.
extension SocketPerformer {
    private func start(_ number: Int, _ request: GraphQLRequest) {
        guard let caller else { return }
        switch parts.service.operationKind(of: request, caller: caller, style: .standard) {
        case .invalid(let reply): handle(.replied(number, reply))
        case .query, .mutation: execute(number, request, caller)
        case .subscription: subscribe(number, request, caller)
        }
    }

    private func execute(_ number: Int, _ request: GraphQLRequest, _ caller: Service.Caller) {
        let performer = NIOLoopBound(self, eventLoop: loop)
        let service = parts.service
        let task = Task(executorPreference: executor) {
            let reply = await service.execute(request, caller: caller, style: .standard)
            performer.value.executed(number, reply)
        }
        operations[number] = .executing(task)
    }

    private func executed(_ number: Int, _ reply: GraphQLReply) {
        guard operations.removeValue(forKey: number) != nil else { return }
        handle(.replied(number, reply))
    }

    private func subscribe(_ number: Int, _ request: GraphQLRequest, _ caller: Service.Caller) {
        let performer = NIOLoopBound(self, eventLoop: loop)
        let service = parts.service
        let sink = SocketSink(number: number, mailbox: mailbox)
        let task = Task(executorPreference: executor) {
            let outcome = await service.subscribe(request, caller: caller, sink: sink)
            performer.value.subscribed(number, outcome, sink)
        }
        operations[number] = .registering(task, sink)
    }

    private func subscribed(_ number: Int, _ outcome: SubscribeOutcome, _ sink: SocketSink) {
        switch outcome {
        case .stream(let handle):
            // Cancelled or ended while it was registering.
            guard operations[number] != nil else { return handle.cancel() }
            operations[number] = .streaming(handle, sink)
            self.handle(.subscribed(number))
        case .refused(let errors):
            guard operations.removeValue(forKey: number) != nil else { return }
            handle(.refused(number, errors: errors))
        }
    }
}
