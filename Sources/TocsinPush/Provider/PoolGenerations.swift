import Synchronization

/// Numbers a provider's pools, so that one is replaced once, however many of its pushes ask for it.
///
/// A connection carries one token only. Apple refuses a second token within 20 minutes on the same
/// connection, and a connection that has seen an expired token stays stuck.
final class PoolGenerations: Sendable {
    private struct Current {
        var generation = 0
        var token: String
        /// Whether any push has gone through it.
        var isUsed = false
    }

    /// By the pool with generation 0.
    private let state = Mutex<[PushPool: Current]>([:])

    /// The pool to use with a token, and the one it takes the place of, which is to be closed.
    func pool(_ base: PushPool, token: String) -> (pool: PushPool, replaced: PushPool?) {
        state.withLock { state in
            var current = state[base] ?? Current(token: token)
            let old = Self.numbered(base, current.generation)
            let isNew = current.isUsed && current.token != token
            if isNew { current.generation += 1 }
            (current.token, current.isUsed) = (token, true)
            state[base] = current
            return (Self.numbered(base, current.generation), isNew ? old : nil)
        }
    }

    /// Has the next pushes use new connections; false when others have seen to that since the pool was used.
    func retire(_ used: PushPool) -> Bool {
        state.withLock { state in
            let base = Self.numbered(used, 0)
            guard state[base]?.generation == used.generation else { return false }
            state[base]?.generation += 1
            state[base]?.isUsed = false
            return true
        }
    }

    private static func numbered(_ pool: PushPool, _ generation: Int) -> PushPool {
        var pool = pool
        pool.generation = generation
        return pool
    }
}
