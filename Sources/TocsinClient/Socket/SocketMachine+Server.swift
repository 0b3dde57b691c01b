import GraphQLTransport
import JSON

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
        for (id, feed) in feeds where feed.awaitsPing {
            feeds[id]?.awaitsPing = false
            feeds[id]?.ping = lastPing + 1
        }
        ping(within: settings.handshakeTimeout)
    }

    /// A ping whose answer must come in time.
    mutating func ping(within limit: Duration) {
        lastPing += 1
        livePing = lastPing
        actions.append(.setTimer(.pong, limit))
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
