import Synchronization
import TocsinStore

/// Sees whether an event loop or a thread stands still, by looking at its count once a second.
///
/// It has a thread of its own. Time in which the whole process stood still, as under a debugger,
/// does not count, for then nobody looked either.
package final class StallWatch: Sendable {
    private struct Watched {
        let name: String
        /// How often it may be seen at one count.
        let patience: Int
        /// nil: it has nothing to do.
        let count: @Sendable () -> Int?
        var last: Int?
        var stillSeconds = 0
    }

    private struct State {
        var watched: [Watched] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let condition = Condition()

    /// A watch over nothing.
    package init() {}

    /// Watches something from now on.
    ///
    /// `count` must change within so many seconds, or be nil for what rests. It is called on the
    /// watch's thread and must return at once.
    package func add(_ name: String, patienceSeconds: Int, _ count: @escaping @Sendable () -> Int?) {
        let watched = Watched(name: name, patience: patienceSeconds, count: count)
        state.withLock { $0.watched.append(watched) }
    }

    /// What stands still, by name.
    package var stalled: [String] {
        state.withLock { state in
            guard !state.hasEnded else { return [] }
            return state.watched.filter { $0.stillSeconds >= $0.patience }.map(\.name)
        }
    }

    /// Looks once; a second has passed since the last time.
    package func look() {
        state.withLock { state in
            for index in state.watched.indices {
                let now = state.watched[index].count()
                let isStill = now != nil && now == state.watched[index].last
                state.watched[index].last = now
                state.watched[index].stillSeconds = isStill ? state.watched[index].stillSeconds + 1 : 0
            }
        }
    }

    /// Looks once a second until the end.
    func start() {
        // Without a thread nothing is ever said to stand still.
        _ = startThread("stall-watch") { [self] in
            while !state.withLock({ $0.hasEnded }) {
                condition.withLock { condition.wait(.seconds(1)) }
                look()
            }
        }
    }

    /// The server stops, which has time limits of its own: nothing stands still from here on.
    func end() {
        state.withLock { $0.hasEnded = true }
        condition.withLock { condition.broadcast() }
    }
}
