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

    mutating func forgetOperation(_ id: FeedID) {
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

    mutating func perform(_ todo: [OperationAction], for id: FeedID, bytes: Int = 0) {
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

    mutating func fail(_ id: FeedID, _ failure: FeedFailure) {
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
