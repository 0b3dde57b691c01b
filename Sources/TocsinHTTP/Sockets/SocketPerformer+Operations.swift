import GraphQLTransport
import Metrics
import NIOCore

// Credentials and operations: tasks on the loop, whose results come back as events.
extension SocketPerformer {
    func authenticate(_ credentials: Credentials) {
        authenticate(credentials) { $0.authenticated($1) }
    }

    func reauthenticate(_ credentials: Credentials) {
        authenticate(credentials) { $0.reauthenticated($1) }
    }

    private func authenticate(
        _ credentials: Credentials,
        then tell: @escaping @Sendable (SocketPerformer, AuthenticationOutcome<Service.Caller>) -> Void
    ) {
        let performer = NIOLoopBound(self, eventLoop: loop)
        let service = parts.service
        authentication?.cancel()
        authentication = Task(executorPreference: executor) {
            let outcome = await service.authenticate(credentials)
            guard !Task.isCancelled else { return }
            tell(performer.value, outcome)
        }
    }

    func start(_ number: Int, _ operation: OperationStart) {
        guard let credentials = operation.credentials else {
            if let caller { run(number, operation, caller) }
            return
        }
        let performer = NIOLoopBound(self, eventLoop: loop)
        let service = parts.service
        let task = Task(executorPreference: executor) {
            let outcome = await service.authenticate(credentials)
            performer.value.judged(number, operation, outcome)
        }
        operations[number] = .working(task, nil)
        limitTime(of: number)
    }

    /// Goes on with an operation that brought credentials.
    private func judged(_ number: Int, _ operation: OperationStart, _ outcome: AuthenticationOutcome<Service.Caller>) {
        guard operations[number] != nil else { return }
        switch outcome {
        case .caller(let caller):
            run(number, operation, caller)
            watchExpiry(of: caller, for: number)
        case .refused(let message): deny(number, .refused(message: message))
        case .unavailable(let message): deny(number, .unavailable(message: message))
        }
    }

    private func deny(_ number: Int, _ reason: SessionAuthentication) {
        _ = remove(number)
        handle(.denied(number, reason))
    }

    private func run(_ number: Int, _ operation: OperationStart, _ caller: Service.Caller) {
        var noted = SocketOperation(name: operation.request.operationName)
        let lookup = parts.service.operation(
            of: operation.request,
            caller: caller,
            style: operation.options.style,
            from: source
        )
        switch lookup {
        case .invalid(let reply):
            record(noted, of: caller, with: reply)
            replied(number, reply)
        case .refused(let message):
            _ = remove(number)
            handle(.refused(number, errors: ErrorBody.errors(message, code: .unauthenticated, style: .standard)))
        case .query(let run), .mutation(let run):
            if case .query = lookup { noted.kind = "query" } else { noted.kind = "mutation" }
            guard operation.isSubscriptionOnly, let kind = lookup.kind else {
                return execute(number, run, noted, caller)
            }
            _ = remove(number)
            handle(.unsupported(number, kind))
        case .subscription:
            noted.kind = "subscription"
            subscribe(number, operation, noted, caller)
        }
    }

    private func execute(
        _ number: Int,
        _ run: @escaping OperationLookup.Run,
        _ noted: SocketOperation,
        _ caller: Service.Caller
    ) {
        let performer = NIOLoopBound(self, eventLoop: loop)
        let task = Task(executorPreference: executor) {
            let reply = await run()
            performer.value.record(noted, of: caller, with: reply)
            performer.value.executed(number, reply)
        }
        operations[number] = .working(task, nil)
        limitTime(of: number)
    }

    private func executed(_ number: Int, _ reply: GraphQLReply) {
        guard operations[number] != nil else { return }
        replied(number, reply)
    }

    private func replied(_ number: Int, _ reply: GraphQLReply) {
        _ = remove(number)
        handle(.replied(number, reply))
    }

    private func subscribe(
        _ number: Int,
        _ operation: OperationStart,
        _ noted: SocketOperation,
        _ caller: Service.Caller
    ) {
        let performer = NIOLoopBound(self, eventLoop: loop)
        let service = parts.service
        let group = service.socketGroup(of: caller)
        if let group, !parts.subscriptionGroups.enter(group) {
            _ = remove(number)
            let message = "You run too many subscriptions; complete one first."
            let errors = ErrorBody.errors(message, code: .limit, style: operation.options.style)
            return handle(.refused(number, errors: errors))
        }
        let sink = SocketSink(
            number: number,
            group: group,
            socketQueue: socketQueue,
            ownerQueue: ownerQueue(of: caller)
        )
        sink.open(outlet, session.envelope(of: number))
        let renewal = renewals
        let task = Task(executorPreference: executor) {
            let outcome = await service.subscribe(
                operation.request,
                caller: caller,
                options: operation.options,
                sink: sink
            )
            performer.value.record(noted, of: caller)
            performer.value.subscribed(number, outcome, sink, renewal)
        }
        operations[number] = .working(task, sink)
        limitTime(of: number)
    }

    private func subscribed(_ number: Int, _ outcome: SubscribeOutcome, _ sink: SocketSink, _ renewal: Int) {
        switch outcome {
        case .stream(let handle):
            // Cancelled or ended while it was registering.
            guard operations[number] != nil else { return handle.cancel() }
            operations[number] = .streaming(handle, sink)
            metrics.subscriptions.add(1)
            // While it was registering the caller has shown a newer token.
            if renewal != renewals, let caller { parts.service.renew(handle, caller: caller) }
            self.handle(.subscribed(number))
        case .refused(let errors):
            guard remove(number) != nil else { return }
            handle(.refused(number, errors: errors))
        }
    }
}
