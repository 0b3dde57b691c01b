/// A write that costs less together with others of its kind: those that follow each other in a write group are performed
/// at once.
package protocol GroupedWrite: Sendable {
    associatedtype Outcome: Sendable

    /// Performs writes in the order in which they were called, as if one by one, and answers the outcome of each.
    ///
    /// Throws when one of them cannot be done: then all are undone and performed anew, in smaller batches, so that only that
    /// one fails. As a write's closure, it does nothing outside but answer.
    static func perform(_ batch: [Self], _ writer: any StoreWriter) throws(StoreError) -> [Outcome]
}

extension Store {
    /// A store that groups nothing performs each alone.
    package func write<Work: GroupedWrite>(_ work: Work) async throws(StoreError) -> Work.Outcome {
        try await write { writer throws(StoreError) in try Work.perform([work], writer).single() }
    }

    /// `write` of work that may refuse: a refusal is a value inside the group, an error to the caller.
    package func writing<Work: GroupedWrite, Value>(
        _ work: Work
    ) async throws(ServiceError) -> Value where Work.Outcome == Result<Value, ServiceError> {
        let result: Result<Value, ServiceError>
        do throws(StoreError) {
            result = try await write(work)
        } catch {
            throw ServiceError(error)
        }
        return try result.get()
    }
}

extension Array {
    /// The only outcome of a batch of one.
    fileprivate func single() throws(StoreError) -> Element {
        guard count == 1, let first else { throw .mismatch(reason: "One write had \(count) outcomes.") }
        return first
    }
}
