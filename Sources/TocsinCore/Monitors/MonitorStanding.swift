/// What the next change of a monitor is decided by.
package struct MonitorStanding: Sendable, Equatable {
    /// Work that has begun.
    package struct Run: Sendable, Equatable {
        /// When it began.
        package var startedAt: Timestamp
        /// What its end will carry; nil: it carried nothing.
        package var id: String?

        /// Work that has begun.
        package init(startedAt: Timestamp, id: String? = nil) { (self.startedAt, self.id) = (startedAt, id) }
    }

    /// How it stands.
    package var state: MonitorState = .new
    /// When the first ping came.
    package var firstPingAt: Timestamp?
    /// When the last ping came.
    package var lastPingAt: Timestamp?
    /// When the last success came.
    package var lastSuccessAt: Timestamp?
    /// When the last start came.
    package var lastStartAt: Timestamp?
    /// How long the last work took whose start and end are known.
    package var lastDurationMilliseconds: Int64?
    /// When the next success is due; nil: nothing is.
    package var dueAt: Timestamp?
    /// The work that has begun and has not ended.
    package var run: Run?
    /// Fail pings in a row.
    package var failures: Int64 = 0
    /// Successes in a row.
    package var successes: Int64 = 0
    /// When a pause ends; nil: with the next ping.
    package var pausedUntil: Timestamp?
    /// Nothing is missed before this moment: pings could not arrive.
    package var forgivenUntil: Timestamp?

    /// A monitor of which nothing has been heard.
    package init() {}
}

/// What people are to be told of a monitor.
package enum MonitorNews: Sendable, Equatable {
    /// Why it is down.
    package enum Reason: Sendable, Equatable {
        /// Nothing came since then; nil: since it is watched.
        case silence(since: Timestamp?)
        /// The work has not ended since then.
        case endless(since: Timestamp)
        /// The work failed, with this exit status where one was said.
        case failure(exitStatus: Int?, text: String)
    }

    /// It is down, or down again for another reason.
    case down(Reason)
    /// It is up again.
    case up
    /// It is not watched any more, and so not down.
    case unwatched
}
