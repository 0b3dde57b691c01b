import GraphQLTransport

/// The messages of one topic as they are stored, each once, in the order of their numbers.
///
/// The connection is opened by the first `next()` and closed when the iterator is dropped or its
/// task is cancelled. A lost connection is opened again, for as long as it takes, and the feed goes
/// on after the message given out last.
public struct MessageFeed: AsyncSequence, Sendable {
    /// What a feed brings.
    public typealias Element = FeedMessage
    /// Why a feed ends.
    public typealias Failure = ClientError

    /// What happens to a feed's connection, for people who watch.
    public enum Change: Sendable {
        /// A feed that was to begin now begins behind this point: whoever keeps it can stop before
        /// the first message and miss nothing.
        case begun(ResumePoint)
        /// The subscription is live: what is stored from now on will come.
        case live
        /// The connection is lost or could not be opened; another attempt follows after the pause.
        case interrupted(ClientError, pause: Duration)
    }

    let client: TocsinClient
    let topic: TopicReference
    let start: Start
    let onChange: (@Sendable (Change) -> Void)?

    /// Where a feed begins.
    enum Start {
        case now
        case after(cursor: String)
        case point(ResumePoint)
    }

    /// Starts where the feed begins, or now.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: self) }

    /// Reads one feed; not for several tasks at once.
    public final class Iterator: AsyncIteratorProtocol {
        private let feed: MessageFeed
        private var machine: FeedMachine?
        private var connection: WebSocketConnection?
        private var ready: ArraySlice<FeedMessage> = []
        private var end: ClientError?
        /// The reason to wait before the next connection.
        private var interruption: ClientError?
        private var failures = 0

        init(feed: MessageFeed) { self.feed = feed }

        deinit { connection?.close() }

        /// The next message; `nil` when the task was cancelled.
        public func next() async throws(ClientError) -> FeedMessage? {
            while !Task.isCancelled {
                if let message = ready.popFirst() { return message }
                if let end { throw end }
                do throws(ClientError) {
                    if let interruption { try await wait(after: interruption) }
                    try await step()
                } catch {
                    if error.code == .cancelled { break }
                    guard error.isTemporary else { throw error }
                    interruption = error
                }
            }
            drop()
            return nil
        }

        /// Opens the connection, or reads one event of it.
        private func step() async throws(ClientError) {
            guard let connection else { return try await connect() }
            switch await connection.next() {
            case .text(let text): perform(machine?.received(text) ?? [])
            case .closed(let code, let reason): perform(machine?.disconnected(code: code, reason: reason) ?? [])
            }
        }

        private func connect() async throws(ClientError) {
            let client = feed.client
            if machine == nil {
                let topicID = try await client.topicID(of: feed.topic)
                machine = FeedMachine(
                    topicID: topicID,
                    token: client.token,
                    start: feed.start,
                    maximumMessageBytes: client.settings.maximumAnswerBytes
                )
            }
            connection = try await WebSocketConnection.open(
                connector: client.connector,
                subprotocol: TransportWSClientSession.subprotocol,
                settings: client.settings
            )
            perform(machine?.connected() ?? [])
        }

        private func perform(_ actions: [FeedMachine.Action]) {
            for action in actions {
                switch action {
                case .send(let text): connection?.send(text)
                case .deliver(let message): ready.append(message)
                case .begin(let point): feed.onChange?(.begun(point))
                case .live:
                    failures = 0
                    connection?.confirm()
                    feed.onChange?(.live)
                case .reconnect(let failure):
                    drop()
                    interruption = failure.error
                case .end(let failure):
                    drop()
                    end = failure.error
                }
            }
        }

        private func wait(after error: ClientError) async throws(ClientError) {
            interruption = nil
            failures += 1
            let pauses = feed.client.settings.feedPauses
            let pause = pauses.pause(afterFailures: failures, random: Double.random(in: 0..<1))
            feed.onChange?(.interrupted(error, pause: pause))
            do {
                try await Task.sleep(for: pause)
            } catch {
                throw .cancelled
            }
        }

        private func drop() {
            connection?.close()
            connection = nil
        }
    }
}

extension TocsinClient {
    /// Follows a topic: first what was stored after `cursor`, then what comes; without a
    /// cursor what comes from now on.
    ///
    /// The feed ends with an error when going on would be wrong or pointless: `BAD_CURSOR` and
    /// `CURSOR_EXPIRED`, `UNAUTHENTICATED` when the token ends, `TOPIC_NOT_FOUND`. Whatever else
    /// breaks is tried again and shown to `onChange`.
    public func follow(
        topic: TopicReference,
        after cursor: String? = nil,
        onChange: (@Sendable (MessageFeed.Change) -> Void)? = nil
    ) -> MessageFeed {
        MessageFeed(client: self, topic: topic, start: cursor.map { .after(cursor: $0) } ?? .now, onChange: onChange)
    }

    /// Goes on behind a point that was kept: of the last message that was handled, or
    /// of the feed's beginning.
    ///
    /// Who keeps the resume point of each message after it has handled it gets each message once,
    /// but for the one whose resume point could not be kept any more: that one comes again.
    public func follow(
        from point: ResumePoint,
        onChange: (@Sendable (MessageFeed.Change) -> Void)? = nil
    ) -> MessageFeed {
        MessageFeed(client: self, topic: .id(point.topicID), start: .point(point), onChange: onChange)
    }
}
