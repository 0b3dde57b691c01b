import GraphQLTransport
import JSON

// Readers and their feeds.
extension SocketMachine {
    /// What a reader finds.
    package enum Taken: Sendable {
        case item(FeedItem)
        /// Nothing yet; `wake` will say when there is.
        case nothing
        /// The feed is not there any more.
        case gone
    }

    /// The next for a reader, and what to do now that it has been taken.
    package mutating func take(_ id: FeedID) -> (Taken, [Action]) {
        guard feeds[id] != nil else { return (.gone, []) }
        let item = feeds[id]?.take()
        if let feed = feeds[id], feed.stage == .parked, feed.isLow {
            feeds[id]?.stage = .waiting
            phase == .ready ? begin(id) : connectIfNeeded()
            pingIfNeeded()
        }
        if let feed = feeds[id], feed.stage == .over, !feed.hasItems { feeds[id] = nil }
        defer { actions = [] }
        return (item.map(Taken.item) ?? .nothing, actions)
    }

    /// Whether there is something to take.
    package func isReady(_ id: FeedID) -> Bool { feeds[id].map(\.hasItems) ?? true }

    mutating func follow(_ id: FeedID, _ operation: any SocketOperation) {
        feeds[id] = FeedSlot(operation)
        phase == .ready ? begin(id) : connectIfNeeded()
    }

    mutating func leave(_ id: FeedID) {
        guard let feed = feeds.removeValue(forKey: id) else { return }
        stop(feed)
        actions.append(.cancelTimer(.feed(id)))
        restIfUnwanted()
    }

    /// Sends a feed's operation, if it waits for that.
    mutating func begin(_ id: FeedID) {
        guard phase == .ready, feeds[id]?.stage == .waiting, let todo = feeds[id]?.operation.begin() else { return }
        perform(todo, for: id)
    }

    /// The feed's operation has ended with its socket.
    mutating func interrupt(_ id: FeedID) {
        guard let stage = feeds[id]?.stage, stage == .running || stage == .pausing else { return }
        feeds[id]?.stage = .waiting
        forgetOperation(id)
        actions.append(.cancelTimer(.feed(id)))
    }

    mutating func end(_ id: FeedID, _ error: ClientError?) {
        guard let feed = feeds[id], feed.stage != .over else { return }
        stop(feed)
        forgetOperation(id)
        feeds[id]?.stage = .over
        actions.append(.cancelTimer(.feed(id)))
        give(id, .end(error))
    }

    mutating func give(_ id: FeedID, _ item: FeedItem, bytes: Int = 0) {
        guard feeds[id] != nil else { return }
        feeds[id]?.put(item, bytes: bytes)
        actions.append(.wake(id))
        if let feed = feeds[id], feed.isFull, feed.stage != .over { park(id) }
    }

    mutating func feedTimeIsUp(_ id: FeedID) {
        switch feeds[id]?.stage {
        case .pausing?:
            feeds[id]?.stage = .waiting
            begin(id)
        case .running?: feeds[id]?.failures = 0
        case .waiting?, .parked?, .over?, nil: break
        }
    }

    private mutating func park(_ id: FeedID) {
        guard let feed = feeds[id] else { return }
        stop(feed)
        forgetOperation(id)
        feeds[id]?.stage = .parked
        actions.append(.cancelTimer(.feed(id)))
        restIfUnwanted()
    }

    /// Completes what runs for the feed.
    private mutating func stop(_ feed: FeedSlot) {
        guard let operation = feed.operationID, operations.removeValue(forKey: operation) != nil else { return }
        perform(.complete(id: operation))
    }

    private mutating func forgetOperation(_ id: FeedID) {
        if let operation = feeds[id]?.operationID { operations[operation] = nil }
        feeds[id]?.operationID = nil
        feeds[id]?.awaitsPing = false
        feeds[id]?.ping = nil
    }

    /// Closes a socket that no feed is on, even if a parked one may want it again.
    private mutating func restIfUnwanted() {
        guard phase != .paused, phase != .idle, !feeds.values.contains(where: \.wantsSocket) else { return }
        disconnect()
        rest()
    }

    private mutating func perform(_ todo: [OperationAction], for id: FeedID, bytes: Int = 0) {
        for action in todo {
            // What was done before may have parked or ended the feed.
            guard let stage = feeds[id]?.stage, stage == .running || stage == .waiting else { return }
            switch action {
            case .run(let query, let variables): run(query, variables, for: id)
            case .give(let item): give(id, item, bytes: bytes)
            case .again(let failure):
                give(id, .interrupted(failure.error, pause: .zero))
                again(id)
            case .fail(let failure): fail(id, failure)
            case .end: end(id, nil)
            }
        }
    }

    private mutating func run(_ query: String, _ variables: JSONObject, for id: FeedID) {
        // One that is replaced has had its answer, and the server completes it.
        if let before = feeds[id]?.operationID { operations[before] = nil }
        lastOperation += 1
        let operation = String(lastOperation)
        operations[operation] = id
        feeds[id]?.operationID = operation
        feeds[id]?.stage = .running
        feeds[id]?.awaitsPing = true
        feeds[id]?.ping = nil
        perform(.subscribe(id: operation, GraphQLRequest(query: query, variables: variables)))
    }

    private mutating func again(_ id: FeedID) {
        guard let feed = feeds[id], feed.stage == .running || feed.stage == .waiting else { return }
        stop(feed)
        forgetOperation(id)
        feeds[id]?.stage = .waiting
        begin(id)
    }

    private mutating func fail(_ id: FeedID, _ failure: FeedFailure) {
        if failure.code == .unauthenticated {
            disconnect()
            return refused(failure.error)
        }
        if failure.code == .unauthorized, feeds[id]?.mayBeginAgain == true {
            feeds[id]?.mayBeginAgain = false
            give(id, .interrupted(failure.error, pause: .zero))
            return again(id)
        }
        guard failure.isTemporary, let feed = feeds[id] else { return end(id, failure.error) }
        stop(feed)
        forgetOperation(id)
        feeds[id]?.failures += 1
        feeds[id]?.stage = .pausing
        let pause = settings.feedPauses.pause(afterFailures: feed.failures + 1, random: random())
        give(id, .interrupted(failure.error, pause: pause))
        if feeds[id]?.stage == .pausing { actions.append(.setTimer(.feed(id), pause)) }
    }
}

// What the server says.
extension SocketMachine {
    mutating func received(_ bytes: [UInt8]) {
        perform(.text(bytes), bytes: bytes.count)
    }

    /// Hands an event to the protocol's session and does what comes of it.
    mutating func perform(_ event: TransportWSClientSession.Event, bytes: Int = 0) {
        guard let todo = session?.handle(event) else { return }
        for action in todo {
            switch action {
            case .send(let text): actions.append(.send(text))
            case .close(_, let reason):
                endAll(ClientError(.badAnswer, "The server broke the protocol. \(reason)."))
            case .connected(let payload): acknowledged(payload)
            case .alive(let payload): alive(payload)
            case .next(let id, let response):
                guard let feed = operations[id], let todo = feeds[feed]?.operation.received(response) else { continue }
                perform(todo, for: feed, bytes: bytes)
            case .failed(let id, let errors):
                guard let feed = ended(id) else { continue }
                fail(feed, GraphQLAnswer.firstError(of: .array(errors)).map(FeedFailure.init) ?? .strange)
            case .completed(let id):
                guard let feed = ended(id), let todo = feeds[feed]?.operation.completed() else { continue }
                perform(todo, for: feed)
            // Feeds hear of it when the socket is lost.
            case .interrupted: break
            }
        }
    }

    /// The server has ended the operation: nothing runs for its feed.
    private mutating func ended(_ operation: String) -> FeedID? {
        guard let id = operations.removeValue(forKey: operation) else { return nil }
        forgetOperation(id)
        return id
    }

    private mutating func alive(_ payload: JSONObject) {
        if let isAccepted = payload["authenticated"]?.boolValue { return judged(isAccepted, payload) }
        if let operation = payload["replayed"]?.stringValue { return replayed(operation) }
        guard let number = livePing else { return }
        livePing = nil
        actions.append(.cancelTimer(.pong))
        for (id, feed) in feeds.sorted(by: { $0.key < $1.key }) where feed.ping == number {
            feeds[id]?.ping = nil
            guard let todo = feeds[id]?.operation.confirmed() else { continue }
            perform(todo, for: id)
            if tellsReplays, let operation = feed.operationID, feeds[id]?.operationID == operation {
                perform(.ping(payload: ["replayed": .string(operation)]))
            }
            if feed.failures > 0 { actions.append(.setTimer(.feed(id), Self.steadyTime)) }
        }
    }

    private mutating func replayed(_ operation: String) {
        guard let id = operations[operation], let todo = feeds[id]?.operation.caughtUp() else { return }
        perform(todo, for: id)
    }

    /// One ping for all feeds that were begun since the last; the server answers when it has
    /// registered them.
    mutating func pingIfNeeded() {
        guard phase == .ready, livePing == nil, feeds.values.contains(where: \.awaitsPing) else { return }
        lastPing += 1
        livePing = lastPing
        for (id, feed) in feeds where feed.awaitsPing {
            feeds[id]?.awaitsPing = false
            feeds[id]?.ping = lastPing
        }
        actions.append(.setTimer(.pong, settings.handshakeTimeout))
        perform(.ping(payload: nil))
    }
}

// Newer tokens on the open socket.
extension SocketMachine {
    /// Shows the server a newer token of the same user.
    mutating func prove(_ newer: HeldCredentials) {
        guard let token = newer.credentials.authorization else { return }
        proving = newer
        for (id, feed) in feeds where feed.stage == .running { feeds[id]?.mayBeginAgain = true }
        actions.append(.setTimer(.proof, Self.proofTimeout))
        perform(.ping(payload: ["authorization": .string("Bearer \(token)")]))
    }

    private mutating func judged(_ isAccepted: Bool, _ payload: JSONObject) {
        guard let newer = proving else { return }
        actions.append(.cancelTimer(.proof))
        guard isAccepted else { return reopen("The server did not take the newer token on the open socket.") }
        proving = nil
        held = newer
        actions.append(.watchRenewal(newer, serverSays: payload["expiresAt"]?.intValue))
    }
}
