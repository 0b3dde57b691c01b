/// What a kind of timer does when it is due.
package protocol TimerEffect: Sendable {
    /// The timers that it is asked about.
    var kinds: Set<TimerEntry.Kind> { get }
    /// Claims the timer and does all that it brings about, in one transaction; throws when that
    /// cannot be written, and then nothing was.
    ///
    /// Locks come in the common order: feeds, topics, the subject, and the timer last.
    func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError)
}

/// Fires timers that are due.
///
/// Should several nodes look at once, the removal of the row gives each to one of them.
package struct TimerRunner: Sendable {
    private let environment: ServiceEnvironment
    private let effects: [any TimerEffect]
    private let failed: @Sendable (TimerEntry, ServiceError) -> Void
    private static let batch = 100
    /// So many of one owner's are fired before the others' turn.
    private static let share = 50
    /// So many owners at most wait for their next turn.
    private static let waitingOwners = 100
    /// How long a timer may be late because nobody looked.
    private static let periodSeconds = 0.5

    /// - Parameter failed: Is told of each effect that could not be written; it is tried again.
    package init(
        environment: ServiceEnvironment,
        effects: [any TimerEffect],
        failed: @escaping @Sendable (TimerEntry, ServiceError) -> Void
    ) {
        (self.environment, self.effects, self.failed) = (environment, effects, failed)
    }

    /// Looks twice a second.
    package var task: PeriodicTask {
        PeriodicTask(.timers, everySeconds: Self.periodSeconds, failure: "timers could not be fired") {
            () async throws(ServiceError) in
            do throws(ServiceError) {
                _ = try await fireDue()
                return 0
            } catch .unavailable {
                // The store has said so; the timers wait.
                return nil
            }
        }
    }

    /// Fires all that is due now, the oldest first; answers how many were fired.
    ///
    /// Owners take turns: who has much that is due delays others by one share.
    package func fireDue() async throws(ServiceError) -> Int {
        let kinds = effects.reduce(into: Set<TimerEntry.Kind>()) { $0.formUnion($1.kinds) }
        var total = 0
        var waiting: Set<UserID> = []
        while !Task.isCancelled {
            let (now, others) = (environment.time.now(), waiting)
            let due = try await environment.store.reading(for: .server) { reader throws(StoreError) in
                try reader.dueTimers(of: kinds, at: now, besides: others, limit: Self.batch)
            }
            let turn = Self.turn(due)
            total += turn.timers.count
            let areWritten = await withTaskGroup(of: Bool.self) { group in
                for timer in turn.timers { group.addTask { await fire(timer, now) } }
                return await group.allSatisfy { $0 }
            }
            guard areWritten else { return total }
            waiting.formUnion(turn.full)
            if due.count < Self.batch, turn.full.isEmpty {
                // Everybody else has had their turn.
                if waiting.isEmpty { return total }
                waiting = []
            } else if waiting.count > Self.waitingOwners {
                waiting = []
            }
        }
        return total
    }

    /// Those of what is due that are fired together, and the owners who have had their share.
    private static func turn(_ due: [TimerEntry]) -> (timers: [TimerEntry], full: Set<UserID>) {
        var counts: [UserID: Int] = [:]
        let timers = due.filter { timer in
            guard let owner = timer.owner else { return true }
            counts[owner, default: 0] += 1
            return counts[owner, default: 0] <= share
        }
        return (timers, Set(counts.filter { $0.value >= share }.keys))
    }

    /// False when not even the failure could be written.
    private func fire(_ timer: TimerEntry, _ now: Timestamp) async -> Bool {
        guard let effect = effects.first(where: { $0.kinds.contains(timer.kind) }) else { return true }
        do throws(ServiceError) {
            try await effect.fire(timer, now: now)
            return true
        } catch {
            if case .unavailable = error { return false }
            failed(timer, error)
            let next = timer.failed("\(error)", at: environment.time.now())
            let written: ()? = try? await environment.store.write { writer throws(StoreError) in
                try writer.record(next, of: timer)
            }
            return written != nil
        }
    }
}
