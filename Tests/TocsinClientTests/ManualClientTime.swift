import Synchronization
import Testing
import TocsinClient

/// A clock that moves when a test says so.
final class ManualTime: Sendable {
    private struct Sleeper {
        var due: Duration
        var waiter: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Duration.zero
        var last = 0
        var sleepers: [Int: Sleeper] = [:]
        var random = 0.0
    }

    private let state = Mutex(State())
    /// What the wall clock shows more than the time since the start.
    private let wallStart: Duration

    init(wallStart: Duration = .seconds(1_800_000_000), random: Double = 0) {
        self.wallStart = wallStart
        state.withLock { $0.random = random }
    }

    var environment: ClientEnvironment {
        ClientEnvironment(
            uptime: { self.now },
            wallClock: { self.wallStart + self.now },
            sleep: { try await self.sleep($0) },
            random: { self.state.withLock { $0.random } }
        )
    }

    var now: Duration { state.withLock { $0.now } }
    /// What sleepers still have to wait, the shortest first.
    var pending: [Duration] { state.withLock { state in state.sleepers.values.map { $0.due - state.now }.sorted() } }

    func advance(by step: Duration) {
        let woken = state.withLock { state -> [Sleeper] in
            state.now += step
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return Array(due.values)
        }
        for sleeper in woken { sleeper.waiter.resume(returning: true) }
    }

    /// Wakes the next sleeper, if it would wait for no longer than this.
    func advanceToNext(within limit: Duration) {
        guard let next = pending.first, next <= limit else { return }
        advance(by: next)
    }

    private func sleep(_ time: Duration) async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    guard time > .zero else { return true }
                    state.sleepers[number] = Sleeper(due: state.now + time, waiter: waiter)
                    return nil
                }
                if let answer { waiter.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.waiter.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }
}

/// Looks every millisecond whether something is so; records an issue when it is not within a
/// minute.
///
/// Others need the threads meanwhile: whoever only yields takes them all.
func until(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < end, !Task.isCancelled else {
            Issue.record("It never came to be so.", sourceLocation: sourceLocation)
            return
        }
        try? await Task.sleep(for: .milliseconds(1))
    }
}
