import Synchronization
package import TocsinCore
import TocsinStore

/// A doorbell over PostgreSQL's `LISTEN` and `NOTIFY`, on one connection a
/// node that does nothing else.
///
/// `NOTIFY` takes a lock over the whole cluster at its commit. So it is never part of a message's
/// transaction, but goes out here after it. A node never has more than one under way: the next ones
/// gather into one meanwhile. In a stream of large groups one goes out in a few milliseconds
/// (`DoorbellThrottle`), and none while no other node is there to hear it (`PeerPresence`).
///
/// Behind a pooler in transaction mode there is no listening. Then the doorbell needs a URL of its
/// own that leads to the server.
package final class PostgresDoorbell: Doorbell {
    private struct Shared {
        var state = DoorbellState(carrier: "postgres", trouble: "not connected yet")
        var pace = DoorbellThrottle()
        var presence = PeerPresence()
        /// To be said whoever is there.
        var isGreeting = false
        var isClosing = false
    }

    private let database: PostgresDatabase
    /// Who rings: its own rings are not for itself.
    private let instance: String
    private let shared = Mutex(Shared())
    private let wakeup: Wakeup
    private static let longestPause: Int32 = 2000

    /// A doorbell at a database's server, rung in the name of this run of the server; nil when the
    /// system has no descriptor to give.
    package init?(_ database: PostgresDatabase, instance: String) {
        guard let wakeup = Wakeup() else { return nil }
        self.wakeup = wakeup
        self.database = database
        self.instance = instance
    }

    /// How the listening connection is.
    package var state: DoorbellState { shared.withLock { $0.state } }

    /// Wakes the thread to send a `NOTIFY`, unless no other node is there or the ring may wait.
    package func ring(_ haste: RingHaste) {
        let mustWake = shared.withLock { $0.pace.ring(haste) && $0.presence.isThere }
        if mustWake { wakeup.signal() }
    }

    /// Sends a `NOTIFY` whoever is there, so that other nodes learn of this one.
    package func greet() {
        shared.withLock { $0.isGreeting = true }
        wakeup.signal()
    }

    /// Takes whether other nodes live, and sends what was rung while none did.
    package func note(othersLive: Bool) {
        let hasCome = shared.withLock { shared in
            let wasThere = shared.presence.isThere
            shared.presence.note(othersLive: othersLive)
            return shared.presence.isThere && !wasThere
        }
        // What was rung while nobody was there is rung now.
        if hasCome { wakeup.signal() }
    }

    /// Listens on a thread of its own until the task is cancelled; returns at once where the system
    /// has no thread to give.
    package func run(onRing: @escaping @Sendable () -> Void) async {
        await withTaskCancellationHandler {
            // A node without the thread polls, which its state says.
            do throws(StoreError) {
                try await withThread("doorbell") { [self] () throws(StoreError) in serve(onRing) }
            } catch {
                note(trouble: error.sentence)
            }
        } onCancel: {
            shared.withLock { $0.isClosing = true }
            wakeup.signal()
        }
    }

    private var isClosing: Bool { shared.withLock { $0.isClosing } }

    private func note(trouble: String?) { shared.withLock { $0.state.trouble = trouble } }

    private func serve(_ onRing: @Sendable () -> Void) {
        var pause: Int32 = 100
        while !isClosing {
            do throws(StoreError) {
                var line = try NotifyLine(database.link(), instance: instance)
                try line.listen(tryingOutBy: database.link())
                shared.withLock { $0.presence.lineCameUp() }
                // Something may have been rung meanwhile.
                onRing()
                try attend(&line, onRing) {
                    note(trouble: nil)
                    pause = 100
                }
            } catch {
                note(trouble: error.sentence)
            }
            // Rings that wait do not shorten the pause; the end of the doorbell does.
            wakeup.clear()
            if isClosing { return }
            wakeup.wait(milliseconds: pause)
            pause = min(Self.longestPause, pause * 2)
        }
    }

    /// Rings and listens until the connection is lost or the doorbell is to end; tells
    /// when it has heard itself.
    private func attend(
        _ line: inout NotifyLine,
        _ onRing: @Sendable () -> Void,
        wellBegun: () -> Void
    ) throws(StoreError) {
        var isTold = false
        while !isClosing {
            if line.isHeard, !isTold {
                isTold = true
                wellBegun()
            }
            if !line.isBusy, takeRung() {
                try line.notify()
                shared.withLock { $0.state.sent += 1 }
            }
            let words = try line.attend(beside: wakeup, untilRested: line.isBusy ? nil : restMilliseconds)
            guard words.areThere else { continue }
            shared.withLock { shared in
                shared.presence.heardWord()
                shared.state.heard += words.rings
            }
            if words.rings > 0 { onRing() }
        }
    }

    private func takeRung() -> Bool {
        let now = ContinuousClock.now
        return shared.withLock { shared in
            let isDue = shared.pace.isDue(at: now)
            guard shared.isGreeting || isDue && shared.presence.isThere else { return false }
            shared.pace.answer(at: now)
            shared.isGreeting = false
            return true
        }
    }

    /// After how long a ring that rests is to go out, rounded up; nil while none may.
    private var restMilliseconds: Int32? {
        shared.withLock { $0.pace.restEnd }.map { end in
            let (seconds, fraction) = max(.zero, end - .now).components
            return Int32(clamping: seconds * 1000 + (fraction + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
    }
}
