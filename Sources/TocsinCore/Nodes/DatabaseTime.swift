import Synchronization

/// The database's time: the system's, moved by the difference that was measured to the clock of the
/// database.
///
/// Nodes compare times that other nodes wrote (leases, due times), and the times of a topic's
/// messages must never go back, whichever node makes them. So all nodes use one clock, even if it
/// is wrong.
///
/// A measurement is a question and its answer. The database read its clock at some moment between
/// the two, so the error is at most half of that time. Of the last few measurements the shortest
/// counts. On one network that is a fraction of a millisecond, and leases have seconds to spare.
package final class DatabaseTime: TimeSource {
    /// The database said `time` when our own clock was between the two moments.
    package struct Measurement: Sendable, Hashable {
        /// Our own clock when the question was sent.
        package var asked: Timestamp
        /// The database's clock when it answered.
        package var database: Timestamp
        /// Our own clock when the answer came.
        package var answered: Timestamp

        /// One question and its answer.
        package init(asked: Timestamp, database: Timestamp, answered: Timestamp) {
            self.asked = asked
            self.database = database
            self.answered = answered
        }

        var width: Int64 { answered.milliseconds - asked.milliseconds }
        var difference: Int64 { database.milliseconds - (asked.milliseconds + width / 2) }
    }

    private struct State {
        var recent: [Measurement] = []
        var difference: Int64 = 0
    }

    private static let keptMeasurements = 16
    private let state = Mutex(State())
    private let base: any TimeSource

    /// Goes by `base` until something has been measured.
    package init(_ base: any TimeSource) {
        self.base = base
    }

    /// The node's own clock, which measurements are told in.
    package func ownNow() -> Timestamp { base.now() }

    /// Takes a measurement into account, unless our own clock was set back during it.
    package func note(_ measurement: Measurement) {
        // Our own clock was set meanwhile: nothing can be learnt from it.
        guard measurement.width >= 0 else { return }
        state.withLock { state in
            state.recent.append(measurement)
            if state.recent.count > Self.keptMeasurements { state.recent.removeFirst() }
            // A clock that was set makes all that was measured before wrong:
            // the newest says so clearly.
            if abs(measurement.difference - state.difference) > measurement.width + 1000 {
                state.recent = [measurement]
            }
            let best = state.recent.min { $0.width < $1.width } ?? measurement
            state.difference = best.difference
        }
    }

    /// How far the database's clock is ahead of this node's, in milliseconds.
    package var difference: Int64 { state.withLock { $0.difference } }

    /// The database's time, in milliseconds, as far as it is known.
    package func now() -> Timestamp { Timestamp(milliseconds: base.now().milliseconds + difference) }

    /// Sleeps until `now()` says so, though a measurement on the way has moved
    /// the clock back a little.
    ///
    /// Where it was moved far, by another server's clock, the time that was asked for
    /// has passed all the same.
    package func sleep(until moment: Timestamp) async throws {
        repeat {
            try await base.sleep(until: Timestamp(milliseconds: moment.milliseconds - difference))
        } while (1...Self.smallMove).contains(moment.milliseconds - now().milliseconds)
    }

    private static let smallMove: Int64 = 1000
}
