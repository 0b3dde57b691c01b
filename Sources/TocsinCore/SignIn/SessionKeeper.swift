import Synchronization

/// Notes that sessions are used, behind their requests: at most every five minutes each.
package final class SessionKeeper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private let limits: SessionLimits
    private let noted = Mutex<[TokenID: Timestamp]>([:])
    private let queue: AsyncStream<TokenID>
    private let inbox: AsyncStream<TokenID>.Continuation
    private static let maximumSessions = 10_000

    /// A keeper that writes nothing before `run`.
    package init(store: any Store, time: any TimeSource, limits: SessionLimits) {
        (self.store, self.time, self.limits) = (store, time, limits)
        (queue, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1000))
    }

    /// Notes that a session was verified just now; never waits.
    package func note(_ session: Session) {
        let now = time.now()
        guard session.seenAt.adding(seconds: SessionLimits.seenSeconds) <= now else { return }
        let isNews = noted.withLock { noted in
            if noted.count >= Self.maximumSessions { noted.removeAll() }
            if let last = noted[session.id], now < last.adding(seconds: SessionLimits.seenSeconds) { return false }
            noted[session.id] = now
            return true
        }
        if isNews { inbox.yield(session.id) }
    }

    /// Writes what is noted, until it is cancelled.
    package func run() async {
        for await id in queue {
            let (now, end) = (time.now(), time.now().adding(seconds: limits.idleSeconds))
            do throws(StoreError) {
                try await store.write { writer throws(StoreError) in
                    try writer.noteUse(of: [id], at: now, idleUntil: end)
                }
            } catch {
                // The next request notes it again.
                noted.withLock { $0[id] = nil }
            }
        }
    }
}
