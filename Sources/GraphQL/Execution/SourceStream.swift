/// The events of a subscription, each the value of its root field (GraphQL §6.2.3.1).
public final class SourceStream<Object: Sendable>: Sendable {
    /// Gives the next event, `nil` after the last.
    public typealias Next = @Sendable () async throws(GraphQLError) -> Object?

    @usableFromInline let next: Next

    /// A stream that asks a function for its events, one at a time.
    ///
    /// The function should return `nil` when its task is cancelled.
    public init(next: @escaping Next) {
        self.next = next
    }
}
