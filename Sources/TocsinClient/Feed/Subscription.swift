import GraphQLTransport
public import JSON

/// The events of any subscription operation, for as long as one connection lasts.
///
/// Unlike a `MessageFeed` it does not come back: a lost connection ends it with an error.
public struct Subscription: AsyncSequence, Sendable {
    /// The `data` of each event.
    public typealias Element = JSONValue
    /// Why it ends before the server completes it.
    public typealias Failure = ClientError

    private static let operationID = "1"

    let client: TocsinClient
    let request: GraphQLRequest
    let onLive: (@Sendable () -> Void)?

    /// Opens a connection when it is first asked for an event.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: self) }

    /// Reads one connection; not for several tasks at once.
    public final class Iterator: AsyncIteratorProtocol {
        private let subscription: Subscription
        private var session: TransportWSClientSession
        private var connection: WebSocketConnection?
        private var ready: ArraySlice<JSONValue> = []
        private var end: Result<Void, ClientError>?

        init(subscription: Subscription) {
            self.subscription = subscription
            session = TransportWSClientSession(
                credentials: Credentials(authorization: subscription.client.token),
                limits: JSONLimits(maximumBytes: subscription.client.settings.maximumAnswerBytes)
            )
        }

        deinit { connection?.close() }

        /// The next event's data; `nil` when the server completes the subscription
        /// or the task was cancelled.
        public func next() async throws(ClientError) -> JSONValue? {
            while !Task.isCancelled {
                if let event = ready.popFirst() { return event }
                if let end {
                    connection?.close()
                    try end.get()
                    return nil
                }
                try await step()
            }
            connection?.close()
            return nil
        }

        private func step() async throws(ClientError) {
            guard let connection else { return try await connect() }
            switch await connection.next() {
            case .text(let text): perform(session.handle(.text(text)))
            case .closed(let code, let reason): end = .failure(FeedFailure(closeCode: code, reason: reason).error)
            }
        }

        private func connect() async throws(ClientError) {
            connection = try await WebSocketConnection.open(
                connector: subscription.client.connector,
                subprotocol: TransportWSClientSession.subprotocol,
                settings: subscription.client.settings
            )
            perform(session.handle(.opened))
            perform(session.handle(.subscribe(id: Subscription.operationID, subscription.request)))
        }

        private func perform(_ actions: [TransportWSClientSession.Action]) {
            for action in actions {
                switch action {
                case .send(let text): connection?.send(text)
                case .connected: break
                case .alive:
                    connection?.confirm()
                    subscription.onLive?()
                case .next(_, let response):
                    if let error = GraphQLAnswer.firstError(of: response["errors"]) {
                        end = end ?? .failure(error)
                    } else {
                        ready.append(response["data"] ?? .null)
                    }
                case .failed(_, let errors):
                    end = .failure(GraphQLAnswer.firstError(of: .array(errors)) ?? FeedFailure.strange.error)
                case .completed: end = end ?? .success(())
                case .close(_, let reason): end = .failure(ClientError(.badAnswer, reason))
                case .interrupted: break
                }
            }
            // The session sends what waited for its acknowledgement first; the pong
            // then says that it is live.
            if case .connected? = actions.first { perform(session.handle(.ping)) }
        }
    }
}

extension TocsinClient {
    /// Runs any subscription; `onLive` is called once the server has confirmed it.
    ///
    /// To follow a topic without loss use `follow(topic:after:)`.
    public func subscribe(
        _ document: String,
        variables: JSONObject = [:],
        onLive: (@Sendable () -> Void)? = nil
    ) -> Subscription {
        let request = GraphQLRequest(query: document, variables: variables)
        return Subscription(client: self, request: request, onLive: onLive)
    }
}
