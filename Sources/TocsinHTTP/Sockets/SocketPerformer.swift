import Encodings
import GraphQLTransport
import JSON
import Metrics
import NIOCore

/// Performs what a session asks for, over a socket or an event stream: the only place where
/// sessions meet the service.
///
/// Confined to its event loop; `stop` must be called in the end.
final class SocketPerformer<Service: GraphQLService> {
    /// What goes to the peer.
    enum Output {
        case text(SocketMessage)
        case binary([UInt8])
        case pong([UInt8])
        case close(code: UInt16, reason: String)
        /// All that subscriptions brought one by one in this turn has been sent.
        case settled
    }

    /// A started operation.
    enum Operation {
        /// Something is awaited: credentials, a result or a registration, which has a sink.
        case working(Task<Void, Never>, SocketSink?)
        /// A registered subscription.
        case streaming(any StreamHandle, SocketSink)

        var sink: SocketSink? {
            switch self {
            case .working(_, let sink): sink
            case .streaming(_, let sink): sink
            }
        }

        func cancel() {
            switch self {
            case .working(let task, let sink):
                sink?.close()
                task.cancel()
            case .streaming(let handle, let sink):
                sink.close()
                handle.cancel()
            }
        }
    }

    let parts: ServerParts<Service>
    let metrics: CarrierMetrics
    let loop: any EventLoop
    let executor: LoopExecutor
    let socketQueue: SocketQueue
    var operations: [Int: Operation] = [:]
    var caller: Service.Caller?
    /// How often the caller has shown a newer token.
    var renewals = 0
    var authentication: Task<Void, Never>?
    /// The request that opened the socket.
    var source: RequestSource?
    private(set) var output: ((Output) -> Void)?
    /// Where responses for many go, past the session.
    private(set) var outlet: OutboundQueue?
    private(set) var session: any SocketSession
    private var timers: [SessionTimer: ConnectionDeadline] = [:]
    private var socketGroup: String?
    /// Whose memory it is that waits for the peer.
    private(set) var holder: MemoryHolder
    /// Told when the caller has been let in.
    var letIn: () -> Void = {}
    private var ownerQueue: OwnerQueue?
    /// What it sends will be settled at the end of this turn.
    var isReceiving = false
    private let expiries: TokenExpiries
    private let limit: ExecutionLimit

    /// Whose connection it is; nil for strangers.
    var owner: String? { caller.flatMap(parts.service.socketGroup) }

    init(_ parts: ServerParts<Service>, _ session: any SocketSession, loop: any EventLoop, client: IPAddress?) {
        self.parts = parts
        self.session = session
        metrics = parts.sockets[.init(session)]
        self.loop = loop
        executor = parts.broadcasters.broadcaster(on: loop).executor
        holder = .address(client)
        socketQueue = SocketQueue(parts.settings)
        expiries = TokenExpiries(loop, now: parts.now)
        limit = ExecutionLimit(loop, milliseconds: parts.settings.answerMilliseconds)
    }

    /// Begins the session; what it sends goes to `output`, on the loop, and what many
    /// get straight to `outlet`.
    func start(_ outlet: OutboundQueue, output: @escaping (Output) -> Void) {
        self.output = output
        self.outlet = outlet
        socketQueue.open(NIOLoopBound<any ItemReceiver>(self, eventLoop: loop))
        handle(.opened)
        if let caller { watchExpiry(of: caller) }
        watchLifetime()
    }

    /// Cancels everything; nothing is sent any more.
    func stop() {
        output = nil
        outlet = nil
        letIn = {}
        if let socketGroup { parts.socketGroups.leave(socketGroup) }
        socketGroup = nil
        socketQueue.close()
        authentication?.cancel()
        let running = operations.values
        operations = [:]
        for operation in running {
            leave(operation)
            operation.cancel()
        }
        for timer in timers.values { timer.cancel() }
        timers = [:]
        expiries.stop()
        limit.stop()
    }

    /// Gives the session an event and does what it asks for.
    func handle(_ event: SessionEvent) {
        for action in session.handle(event) {
            guard let output else { return }
            switch action {
            case .send(let message): output(.text(message))
            case .sendBinary(let bytes): output(.binary(bytes))
            case .pongFrame(let payload): output(.pong(payload))
            case .close(let code, let reason):
                output(.close(code: code, reason: reason))
                stop()
            case .authenticate(let credentials): authenticate(credentials)
            case .reauthenticate(let credentials): reauthenticate(credentials)
            case .start(let number, let operation): start(number, operation)
            case .cancel(let number): remove(number)?.cancel()
            case .setTimer(let timer, let milliseconds): set(timer, milliseconds)
            case .cancelTimer(let timer): timers[timer]?.clear()
            }
        }
    }

    /// More waits to be read than may: ends everything, with the cursors to go on from.
    func overflowed() {
        handle(.overflowed(lastCursors: operations.compactMapValues { $0.sink?.lastCursor }))
    }

    /// What waited for room before it was sent and is not out yet.
    var stored: SocketQueue.Load { socketQueue.stored }

    /// Whatever was sent is out.
    func allWritten() { socketQueue.allWritten() }

    private func set(_ timer: SessionTimer, _ milliseconds: Int) {
        let deadline = timers[timer] ?? ConnectionDeadline(loop)
        timers[timer] = deadline
        deadline.set(milliseconds: milliseconds) { [self] in handle(.timer(timer)) }
    }
}

// What subscriptions bring.
extension SocketPerformer: ItemReceiver {
    /// The owner queue of all that this connection's subscriptions bring; the first one's owner
    /// chooses it.
    func ownerQueue(of caller: Service.Caller) -> OwnerQueue {
        if let ownerQueue { return ownerQueue }
        let ownerQueue = parts.broadcasters.broadcaster(on: loop).queue(of: parts.service.socketGroup(of: caller) ?? "")
        self.ownerQueue = ownerQueue
        return ownerQueue
    }

    func receive(_ item: SocketQueue.Item) {
        switch item.content {
        case .next(let response):
            operations[item.number]?.sink?.note(response.cursor)
            outlet?.noteEvent()
            handle(.next(item.number, response))
        case .end(let reason):
            _ = remove(item.number)
            handle(.ended(item.number, reason))
        case .caughtUp: handle(.caughtUp(item.number))
        case .overflow(let slowness):
            outlet?.noteCut(slowness)
            overflowed()
        }
    }

    func settle() {
        isReceiving = false
        output?(.settled)
    }
}

// Who asks, and for how long.
extension SocketPerformer {
    /// The session serves this caller from its start; false when the caller has too many already.
    func admit(_ caller: Service.Caller) -> Bool {
        guard enterGroup(of: caller) else { return false }
        self.caller = caller
        letIn()
        return true
    }

    func authenticated(_ outcome: AuthenticationOutcome<Service.Caller>) {
        guard output != nil else { return }
        authentication = nil
        switch outcome {
        case .caller(let caller):
            guard admit(caller) else {
                let message = "You have too many sockets open; close one first"
                return handle(.authenticated(.unavailable(message: message)))
            }
            handle(.authenticated(.accepted(welcome: welcome(caller))))
            watchExpiry(of: caller)
            lookForAccess()
        case .refused(let message): handle(.authenticated(.refused(message: message)))
        case .unavailable(let message): handle(.authenticated(.unavailable(message: message)))
        }
    }

    private func welcome(_ caller: Service.Caller) -> JSONObject {
        var welcome = parts.service.welcome
        guard !welcome.isEmpty else { return welcome }
        welcome["expiresAt"] = parts.service.expiry(of: caller).map { .int($0) } ?? .null
        return welcome
    }

    /// Ends what runs for a caller who has lost access, or has other rights now.
    func lookForAccess() {
        guard output != nil, let caller else { return }
        if parts.service.hasLostAccess(caller) {
            handle(.tokenEnded)
        } else if parts.service.hasOutdatedRights(caller) {
            handle(.rightsChanged)
        }
    }

    private func enterGroup(of caller: Service.Caller) -> Bool {
        guard socketGroup == nil, let group = parts.service.socketGroup(of: caller) else { return true }
        guard parts.socketGroups.enter(group) else { return false }
        socketGroup = group
        holder = .owner(group)
        return true
    }

    private func watchExpiry(of caller: Service.Caller) {
        guard output != nil, let end = parts.service.expiry(of: caller) else { return }
        expiries.watch(.connection, until: end) { [self] in handle(.tokenEnded) }
    }

    private func watchLifetime() {
        guard output != nil, let lifetime = parts.lifetimes.next() else { return }
        expiries.watch(.lifetime, until: parts.now() + lifetime) { [self] in handle(.lifetimeEnded) }
    }

    /// Goes on by newer credentials, if they are the same user's.
    func reauthenticated(_ outcome: AuthenticationOutcome<Service.Caller>) {
        guard output != nil, let before = caller else { return }
        authentication = nil
        switch outcome {
        case .caller(let caller):
            guard parts.service.isSameUser(caller, as: before) else { return handle(.reauthenticated(.otherUser)) }
            renew(caller)
            handle(.reauthenticated(.accepted(expiresAt: parts.service.expiry(of: caller))))
        case .refused(let message): handle(.reauthenticated(.refused(message: message)))
        case .unavailable(let message): handle(.reauthenticated(.unavailable(message: message)))
        }
    }

    private func renew(_ caller: Service.Caller) {
        self.caller = caller
        renewals += 1
        expiries.forget(.connection)
        watchExpiry(of: caller)
        for case .streaming(let handle, _) in operations.values { parts.service.renew(handle, caller: caller) }
    }

    /// The operation runs for somebody with a token of its own.
    func watchExpiry(of caller: Service.Caller, for number: Int) {
        guard operations[number] != nil, let end = parts.service.expiry(of: caller) else { return }
        expiries.watch(.operation(number), until: end) { [self] in
            guard let operation = remove(number) else { return }
            operation.cancel()
            handle(.ended(number, .unauthorized))
        }
    }

    /// Forgets an operation; what it still brings is dropped.
    func remove(_ number: Int) -> Operation? {
        expiries.forget(.operation(number))
        let operation = operations.removeValue(forKey: number)
        operation?.sink?.close()
        if let operation { leave(operation) }
        return operation
    }

    /// The operation counts no longer.
    private func leave(_ operation: Operation) {
        if case .streaming = operation { metrics.subscriptions.add(-1) }
        if let group = operation.sink?.group { parts.subscriptionGroups.leave(group) }
    }

    /// What has not come to an end or a registration within the time for answers is told so.
    func limitTime(of number: Int) {
        limit.add(number) { [self] number in
            guard case .working(let task, let sink)? = operations[number] else { return }
            _ = remove(number)
            sink?.close()
            task.cancel()
            let message = HTTPRefusal.tooLong
            let body = ErrorBody.response(message, code: .timeout, style: .standard)
            handle(.replied(number, GraphQLReply(kind: .unavailable, body: body)))
        }
    }
}

extension SocketMetrics.Carrier {
    /// What connections of this session speak.
    init(_ session: any SocketSession) {
        self = session is EventStreamSession ? .events : session is AppSyncSession ? .appSync : .webSocket
    }
}
