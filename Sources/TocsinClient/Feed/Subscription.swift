public import JSON

/// The events of any subscription document.
///
/// It shares the client's socket and comes back by itself. Only `onCreateMessage` can resume where
/// it stood, so what happened while it was away is missed: `onGap` says so each time.
public struct Subscription: AsyncSequence, Sendable {
    /// The `data` of each event.
    public typealias Element = JSONValue
    /// Why it ends before the server completes it.
    public typealias Failure = ClientError

    let client: TocsinClient
    let document: String
    let variables: JSONObject
    let onLive: (@Sendable () -> Void)?
    let onGap: (@Sendable (ClientError) -> Void)?

    /// Begins when it is first asked for an event.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: self) }

    /// Reads one subscription; not for several tasks at once.
    public final class Iterator: AsyncIteratorProtocol {
        private let subscription: Subscription
        private var reader: FeedReader?
        private var end: Result<Void, ClientError>?

        init(subscription: Subscription) { self.subscription = subscription }

        /// The next event's data; `nil` when the server completes the subscription
        /// or the task was cancelled.
        public func next() async throws(ClientError) -> JSONValue? {
            while !Task.isCancelled {
                if let end {
                    try end.get()
                    return nil
                }
                let reader = makeReader()
                switch await reader.next() {
                case .event(let data)?: return data
                case .live?: subscription.onLive?()
                case .interrupted(let error, _)?: subscription.onGap?(error)
                case .end(let error?)? where error.code != .cancelled: finish(.failure(error))
                case .end?, nil: finish(.success(()))
                case .message?, .begun?, .caughtUp?: break
                }
            }
            reader = nil
            return nil
        }

        private func finish(_ result: Result<Void, ClientError>) {
            end = result
            reader = nil
        }

        private func makeReader() -> FeedReader {
            if let reader { return reader }
            let operation = DocumentOperation(query: subscription.document, variables: subscription.variables)
            let reader = subscription.client.feeds.follow(operation)
            self.reader = reader
            return reader
        }
    }
}

extension TocsinClient {
    /// Runs any subscription; `onLive` is called each time the server has confirmed it, and `onGap`
    /// each time events may have been missed from there on.
    ///
    /// To follow a topic without loss use `follow(topic:after:)`.
    public func subscribe(
        _ document: String,
        variables: JSONObject = [:],
        onLive: (@Sendable () -> Void)? = nil,
        onGap: (@Sendable (ClientError) -> Void)? = nil
    ) -> Subscription {
        Subscription(client: self, document: document, variables: variables, onLive: onLive, onGap: onGap)
    }
}
