package import TocsinCore

/// Runs blocking work on a thread of its own, so that the shared pool never waits for a disk.
package func withThread<Value: Sendable>(
    _ name: String,
    _ body: @escaping @Sendable () throws(StoreError) -> Value
) async throws(StoreError) -> Value {
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
        let isStarted = startThread(name) {
            continuation.resume(returning: Result { () throws(StoreError) in try body() })
        }
        if !isStarted {
            continuation.resume(returning: .failure(.unavailable(reason: "the system has no thread to give")))
        }
    }
    return try result.get()
}
