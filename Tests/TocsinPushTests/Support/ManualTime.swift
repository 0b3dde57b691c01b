import Synchronization
import TocsinCore

/// A clock that stands still until a test moves it.
final class ManualTime: TimeSource {
    private struct Sleeper {
        var until: Timestamp
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Timestamp
        var lastNumber = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    init(_ now: Timestamp = Timestamp(milliseconds: 1_785_000_000_000)) {
        state = Mutex(State(now: now))
    }

    func now() -> Timestamp { state.withLock { $0.now } }

    func sleep(until moment: Timestamp) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let end = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
                    if moment <= state.now { return .success(()) }
                    state.sleepers[number] = Sleeper(until: moment, continuation: continuation)
                    return nil
                }
                if let end { continuation.resume(with: end) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    func advance(seconds: Double) { move(to: now().adding(seconds: seconds)) }

    /// Moves the wall clock back, as a correction would.
    func setBack(to moment: Timestamp) { state.withLock { $0.now = moment } }

    /// Moves to the earliest moment somebody sleeps for; false when nobody sleeps.
    func advanceToNextSleeper() -> Bool {
        guard let moment = state.withLock({ $0.sleepers.values.map(\.until).min() }) else { return false }
        move(to: moment)
        return true
    }

    private func move(to moment: Timestamp) {
        let woken = state.withLock { state in
            state.now = max(state.now, moment)
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.sorted { $0.until < $1.until }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }
}

/// Identifiers that count, and jitter that is always in the middle.
final class CountingIdentifiers: IdentifierSource {
    private let last = Mutex(0)

    func makeID() -> String {
        last.withLock { last in
            last += 1
            return "id-\(last)"
        }
    }

    func randomUnit() -> Double { 0.5 }
}

/// Signs with bytes that do not change.
struct FixedSigner: Signer {
    var algorithm = "ES256"

    func signature(for bytes: [UInt8]) throws(KeyError) -> [UInt8] { [1, 2, 3, 4] }
}

/// A key that has gone bad.
struct BrokenSigner: Signer {
    let algorithm = "ES256"

    func signature(for bytes: [UInt8]) throws(KeyError) -> [UInt8] { throw KeyError("the key is broken") }
}
