import JSON
import Synchronization
import TocsinStore

/// What the server does until it listens, for `/startupz`.
final class StartProgress: Sendable {
    private struct State {
        var doing: String? = "reading the settings and the schema"
        var since = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let begun = ContinuousClock.now

    /// Whether the server has listened.
    var isStarted: Bool { state.withLock { $0.doing == nil } }

    /// It does this from now on.
    func enter(_ doing: String) {
        state.withLock { state in
            if state.doing != nil { state = State(doing: doing) }
        }
    }

    /// Opening the database has come so far.
    func enter(_ step: OpeningStep) {
        switch step {
        case .waitingForLock: enter("waiting for the database lock")
        case .migrating(let number, let count, let name): enter("migration \(number) of \(count) (\(name))")
        }
    }

    /// The server listens.
    func listens() { state.withLock { $0.doing = nil } }

    /// For people and probes.
    var report: JSONObject {
        let (doing, since) = state.withLock { ($0.doing, $0.since) }
        guard let doing else { return ["status": "started"] }
        return [
            "status": "starting", "doing": .string(doing),
            "forSeconds": .int((ContinuousClock.now - since).components.seconds),
            "sinceStartSeconds": .int((ContinuousClock.now - begun).components.seconds),
        ]
    }
}
