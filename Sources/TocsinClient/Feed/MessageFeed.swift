/// The messages of one topic, or of all the caller's own, as they are stored: each once, in order.
///
/// The first `next()` begins the feed on the client's socket. It ends when the iterator is dropped
/// or its task is cancelled. A lost connection is opened again, for as long as it takes, and the
/// feed goes on after the message given out last. A reader who is slow delays nobody else.
public struct MessageFeed: AsyncSequence, Sendable {
    /// What a feed brings.
    public typealias Element = FeedMessage
    /// Why a feed ends.
    public typealias Failure = ClientError

    /// What happens to a feed, for people who watch.
    public enum Change: Sendable {
        /// A feed that was to begin now begins behind this point: whoever keeps it can stop before
        /// the first message and miss nothing.
        case begun(ResumePoint)
        /// The subscription is live: what is stored from now on will come.
        case live
        /// What was stored before has been given out; the place behind it, where there is one.
        ///
        /// Comes after each `live`, from servers that can tell.
        case caughtUp(FeedPlace?)
        /// The connection is lost or could not be opened; another attempt follows after the pause.
        case interrupted(ClientError, pause: Duration)
    }

    let client: TocsinClient
    /// `nil` stands for all topics.
    let topic: TopicReference?
    let start: FeedMachine.Start
    let onChange: (@Sendable (Change) -> Void)?

    /// Starts where the feed begins, or now.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: self) }

    /// Reads one feed; not for several tasks at once.
    public final class Iterator: AsyncIteratorProtocol {
        private let feed: MessageFeed
        private var reader: FeedReader?
        private var end: ClientError?
        private var isOver = false
        private var failures = 0
        /// To be waited for before the topic is asked for again.
        private var pause: Duration?

        init(feed: MessageFeed) { self.feed = feed }

        /// The next message; `nil` when the task was cancelled or the client was closed.
        public func next() async throws(ClientError) -> FeedMessage? {
            while let event = try await nextEvent() {
                switch event {
                case .message(let message): return message
                case .change(let change): feed.onChange?(change)
                }
            }
            return nil
        }

        /// The next message, or the next thing that happens to the feed.
        func nextEvent() async throws(ClientError) -> Event? {
            if let end { throw end }
            while !isOver, !Task.isCancelled {
                let reader: FeedReader
                switch try await makeReader() {
                case .reader(let made): reader = made
                case .failed(let error, let pause): return .change(.interrupted(error, pause: pause))
                case .cancelled: return nil
                }
                switch await reader.next() {
                case .message(let message)?: return .message(message)
                case .begun(let point)?: return .change(.begun(point))
                case .live?: return .change(.live)
                case .caughtUp(let place)?: return .change(.caughtUp(place))
                case .interrupted(let error, let pause)?: return .change(.interrupted(error, pause: pause))
                case .end(let error)?: try finish(error)
                case nil: isOver = true
                case .event?: break
                }
            }
            reader = nil
            return nil
        }

        private func finish(_ error: ClientError?) throws(ClientError) {
            isOver = true
            reader = nil
            guard let error, error.code != .cancelled else { return }
            end = error
            throw error
        }

        private enum Beginning {
            case reader(FeedReader)
            case failed(ClientError, Duration)
            case cancelled
        }

        /// Asks for the topic's id and begins the feed; after a failure that passes, waits first.
        private func makeReader() async throws(ClientError) -> Beginning {
            if let reader { return .reader(reader) }
            let (client, environment) = (feed.client, feed.client.settings.environment)
            if let pause {
                guard (try? await environment.sleep(pause)) != nil else { return .cancelled }
                self.pause = nil
            }
            do throws(ClientError) {
                var scope = FeedMachine.Scope.all
                if let topic = feed.topic { scope = .topic(try await client.topicID(of: topic)) }
                let reader = client.feeds.follow(FeedMachine(scope, start: feed.start))
                self.reader = reader
                return .reader(reader)
            } catch {
                if error.code == .cancelled || Task.isCancelled { return .cancelled }
                guard error.isTemporary else { throw error }
                failures += 1
                let pause = client.settings.feedPauses.pause(
                    afterFailures: failures,
                    random: environment.random()
                )
                self.pause = pause
                return .failed(error, pause)
            }
        }
    }
}

extension MessageFeed {
    /// A message, or what happens to the feed.
    public enum Event: Sendable {
        /// The next message.
        case message(FeedMessage)
        /// What `onChange` is told otherwise.
        case change(Change)
    }

    /// The messages and, between them, what happens to the feed; `onChange` is told nothing.
    public var events: Events { Events(feed: self) }

    /// All events of a feed, in order.
    public struct Events: AsyncSequence, Sendable {
        /// What it brings.
        public typealias Element = Event
        /// Why it ends.
        public typealias Failure = ClientError

        let feed: MessageFeed

        /// Starts where the feed begins, or now.
        public func makeAsyncIterator() -> Iterator { Iterator(messages: feed.makeAsyncIterator()) }

        /// Reads one feed; not for several tasks at once.
        public struct Iterator: AsyncIteratorProtocol {
            let messages: MessageFeed.Iterator

            /// The next event; `nil` when the task was cancelled or the client was closed.
            public mutating func next() async throws(ClientError) -> Event? { try await messages.nextEvent() }
        }
    }
}

/// A place in the feed of all topics, or of one.
public struct FeedPlace: Sendable, Hashable {
    /// Everything stored after what has this cursor comes after the place.
    public let cursor: String

    /// The place behind the message with this cursor.
    public init(cursor: String) { self.cursor = cursor }
}

extension TocsinClient {
    /// Follows a topic: first what was stored after `cursor`, then what comes; without a
    /// cursor what comes from now on.
    ///
    /// The feed ends with an error when going on would be wrong or pointless: `BAD_CURSOR` and
    /// `CURSOR_EXPIRED`, `UNAUTHENTICATED` when the token ends and there is no other, `SIGNED_OUT`,
    /// `TOPIC_NOT_FOUND`. Whatever else breaks is tried again and shown to `onChange`.
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

    /// Follows all topics of the caller's own: first what was stored after the place, then what
    /// comes; without one what comes from now on.
    ///
    /// Messages come in the order in which they were stored, over all topics. To resume, keep the
    /// `cursor` of the last that was handled.
    public func followAll(
        after place: FeedPlace?,
        onChange: (@Sendable (MessageFeed.Change) -> Void)? = nil
    ) -> MessageFeed {
        let start = place.map { FeedMachine.Start.after(cursor: $0.cursor) } ?? .now
        return MessageFeed(client: self, topic: nil, start: start, onChange: onChange)
    }
}
