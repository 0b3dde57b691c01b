import Dispatch
import TocsinCore
import TocsinStore

extension SQLStore {
    /// Starts writes while the writer's thread is held, so that they must wait together, in the
    /// order in which they start.
    ///
    /// Each is started by `Task.immediate`, which runs until it waits: then it is in the queue.
    func whileWriterIsHeld<Value: Sendable>(
        _ start: () -> [Task<Value, Never>]
    ) async throws -> [Value] {
        let gate = DispatchSemaphore(value: 0)
        let (held, signal) = AsyncStream<Void>.makeStream()
        async let hold: Void = write { _ throws(StoreError) in
            signal.finish()
            _ = gate.wait(timeout: .now() + 300)
        }
        for await _ in held {}
        let tasks = start()
        gate.signal()
        try await hold
        var values: [Value] = []
        for task in tasks { values.append(await task.value) }
        return values
    }
}
