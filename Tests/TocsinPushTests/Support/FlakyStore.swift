import Synchronization
import TocsinCore

/// A store that fails or waits when a test wants it to.
final class FlakyStore: Store {
    private struct State {
        var failingReads = 0
        /// Writes that still succeed; nil when all do.
        var goodWrites: Int?
        var isHoldingReads = false
        var heldReads: [CheckedContinuation<Void, Never>] = []
        var callsUnderWay = 0
    }

    private let real: any Store
    private let state = Mutex(State())

    init(_ real: any Store) { self.real = real }

    /// The next reads fail.
    func failReads(_ count: Int) { state.withLock { $0.failingReads = count } }

    /// Writes fail for good after so many, or succeed again.
    func failWrites(after good: Int?) { state.withLock { $0.goodWrites = good } }

    /// Reads that fail still.
    var failingReads: Int { state.withLock { $0.failingReads } }

    /// Reads that wait for `releaseReads`.
    var heldReads: Int { state.withLock { $0.heldReads.count } }

    /// Reads and writes that the real store is at work on.
    var callsUnderWay: Int { state.withLock { $0.callsUnderWay } }

    private func count(_ change: Int) { state.withLock { $0.callsUnderWay += change } }

    func holdReads() { state.withLock { $0.isHoldingReads = true } }

    func releaseReads() {
        let held = state.withLock { state in
            state.isHoldingReads = false
            defer { state.heldReads = [] }
            return state.heldReads
        }
        for read in held { read.resume() }
    }

    func read<Value: Sendable>(
        for origin: ReadOrigin,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let fails = state.withLock { state in
            guard state.failingReads > 0 else { return false }
            state.failingReads -= 1
            return true
        }
        if fails { throw .statement(code: 1, message: "scripted", sql: "") }
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHoldingReads { state.heldReads.append(continuation) }
                return state.isHoldingReads
            }
            if !isHeld { continuation.resume() }
        }
        count(1)
        defer { count(-1) }
        return try await real.read(for: origin, body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        if mustWriteFail() { throw .statement(code: 1, message: "scripted", sql: "") }
        count(1)
        defer { count(-1) }
        return try await real.write(body)
    }

    func enqueue(_ write: any QueuedWrite) {
        if mustWriteFail() { return write.fail(.statement(code: 1, message: "scripted", sql: "")) }
        real.enqueue(write)
    }

    func told(_ failure: StoreError) -> StoreError { real.told(failure) }

    private func mustWriteFail() -> Bool {
        state.withLock { state in
            guard let left = state.goodWrites else { return false }
            state.goodWrites = max(0, left - 1)
            return left == 0
        }
    }
}
