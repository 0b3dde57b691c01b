import TocsinCore

/// A closure in the queue, which is performed alone.
final class ClosureWrite<Value: Sendable>: QueuedWrite {
    typealias Body = @Sendable (any StoreWriter) throws(StoreError) -> Value

    /// For the audit: on the writer's thread nothing is known of the task.
    let origin: RequestOrigin?
    private let body: Body
    private let caller: WaitingCaller<Value>

    init(_ body: @escaping Body, _ caller: WaitingCaller<Value>) {
        origin = RequestOrigin.current
        self.body = body
        self.caller = caller
    }

    var isWanted: Bool { caller.isWaiting }

    func isJoined(by other: any QueuedWrite) -> Bool { false }

    func perform(
        _ batch: ArraySlice<any QueuedWrite>,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [() -> Void] {
        let value = try body(writer)
        let caller = caller
        return [{ caller.resume(.success(value)) }]
    }

    func fail(_ error: StoreError) { caller.resume(.failure(error)) }
}
