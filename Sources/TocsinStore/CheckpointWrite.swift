import TocsinCore

/// A place in the queue of writes that changes nothing; behind its group, the log is brought
/// into the main file.
final class CheckpointWrite: QueuedWrite {
    private let done: @Sendable (Result<Void, StoreError>) -> Void

    /// - Parameter done: Told once what came of it.
    init(_ done: @escaping @Sendable (Result<Void, StoreError>) -> Void) { self.done = done }

    var isWanted: Bool { true }

    func isJoined(by other: any QueuedWrite) -> Bool { false }

    /// The answer is made on the writer's thread once the group's transaction has ended, which a
    /// checkpoint needs.
    func perform(
        _ batch: ArraySlice<any QueuedWrite>,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [() -> Void] {
        let connection = (writer as? SQLWriter)?.session.connection
        return [
            { [done] in
                done(
                    Result { () throws(StoreError) in
                        if let connection { try connection.checkpoint() }
                    }
                )
            }
        ]
    }

    func fail(_ error: StoreError) { done(.failure(error)) }
}
