import Synchronization

/// What a transport's connections have gone through since it was made; for metrics.
package struct HTTP2Counts: Sendable, Hashable {
    /// Connections that became ready.
    package var opened = 0
    /// Connections ready now.
    package var open = 0
    /// Connects that failed.
    package var failed = 0
    /// Why the last connect failed, or the last connection ended too early; empty if none did.
    package var lastFailure = ""
}

/// The counts, shared by the pools of a transport.
final class ConnectionCounter: Sendable {
    private let state = Mutex(HTTP2Counts())

    var counts: HTTP2Counts { state.withLock { $0 } }

    func opened() {
        state.withLock { counts in
            counts.opened += 1
            counts.open += 1
        }
    }

    func closed() { state.withLock { $0.open -= 1 } }

    func failed(_ reason: String) {
        state.withLock { counts in
            counts.failed += 1
            counts.lastFailure = reason
        }
    }
}
