package import JSON
import Synchronization
package import TocsinStore

/// What the server does until it listens, for `/startupz`.
package final class StartProgress: Sendable {
    private struct State {
        var doing: String? = "reading the settings and the schema"
        /// How much of it is done; nil: nobody can say.
        var percent: Int?
        var since = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let begun = ContinuousClock.now

    /// The start has just begun.
    package init() {}

    /// Whether the server has listened.
    var isStarted: Bool { state.withLock { $0.doing == nil } }

    /// It does this from now on, of which so much is done.
    package func enter(_ doing: String, percent: Int? = nil) {
        state.withLock { state in
            if state.doing != nil { state = State(doing: doing, percent: percent) }
        }
    }

    /// Opening the database has come so far.
    package func enter(_ step: OpeningStep) {
        switch step {
        case .waitingForLock: enter("waiting for the database lock")
        case .migrating(let number, let count, let name, let percent):
            enter("migration \(number) of \(count) (\(name))", percent: percent)
        }
    }

    /// The server listens.
    package func listens() { state.withLock { $0.doing = nil } }

    /// For people and probes.
    package var report: JSONObject {
        let state = state.withLock(\.self)
        guard let doing = state.doing else { return ["status": "started"] }
        var report: JSONObject = ["status": "starting", "doing": .string(doing)]
        report["percent"] = state.percent.map { .int(Int64($0)) }
        report["forSeconds"] = .int((ContinuousClock.now - state.since).components.seconds)
        report["sinceStartSeconds"] = .int((ContinuousClock.now - begun).components.seconds)
        return report
    }
}
