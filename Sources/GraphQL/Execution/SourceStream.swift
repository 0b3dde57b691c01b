/// The events of a subscription (GraphQL §6.2.3.1).
///
/// Each event is the value of the subscription's root field; where that field has a resolver of its
/// own, the event is the resolver's parent instead.
public final class SourceStream<Object: Sendable>: Sendable {
    /// Gives the next event, `nil` after the last.
    public typealias Next = @Sendable () async throws(GraphQLError) -> Object?

    @usableFromInline let next: Next

    /// A stream that asks a function for its events, one at a time.
    ///
    /// The function should return `nil` soon when its task is cancelled.
    public init(next: @escaping Next) {
        self.next = next
    }

    /// A stream of the events of an asynchronous stream.
    public convenience init(_ events: AsyncStream<Object>) {
        self.init { () async throws(GraphQLError) in
            // Iterators of one stream share its buffer, so that a new one goes on
            // where the last one stopped.
            var iterator = events.makeAsyncIterator()
            return await iterator.next()
        }
    }
}

/// The responses of a subscription, one for each event (GraphQL §6.2.3.2 MapSourceToResponseEvent).
///
/// It ends when its source ends or its task is cancelled, and throws what the source throws. It is
/// to be walked through once.
public struct ResponseStream: AsyncSequence, Sendable {
    /// One response.
    public typealias Element = ExecutionResult
    /// What the source throws.
    public typealias Failure = GraphQLError

    @usableFromInline let next: @Sendable () async throws(GraphQLError) -> ExecutionResult?

    @usableFromInline
    init(next: @escaping @Sendable () async throws(GraphQLError) -> ExecutionResult?) {
        self.next = next
    }

    /// Walks through the responses.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(next: next) }

    /// Walks through the responses.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let next: @Sendable () async throws(GraphQLError) -> ExecutionResult?
        private var hasEnded = false

        init(next: @escaping @Sendable () async throws(GraphQLError) -> ExecutionResult?) {
            self.next = next
        }

        /// The next response, `nil` after the last, after an error, and when the task is cancelled.
        public mutating func next() async throws(GraphQLError) -> ExecutionResult? {
            guard !hasEnded, !Task.isCancelled else { return nil }
            hasEnded = true
            guard let result = try await next(), !Task.isCancelled else { return nil }
            hasEnded = false
            return result
        }

        /// The next response, `nil` after the last, after an error, and when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(GraphQLError) -> ExecutionResult? {
            try await next()
        }
    }
}
