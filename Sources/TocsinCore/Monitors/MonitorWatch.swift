/// When pings could arrive: a node writes down every few seconds that it is there.
///
/// After a gap, whatever fell due in it gets time again. So a restart raises no false alarm.
package struct MonitorWatch: Sendable, Equatable {
    /// Less is no gap: nodes take over from each other.
    package static let leastGapSeconds = 30.0
    /// How often it is written.
    package static let periodSeconds = 5.0
    /// Gaps that follow each other so closely are one.
    private static let joinedSeconds = 60.0

    /// When a node last said that it is there.
    package var seenAt: Timestamp
    /// The last gap.
    package var gap: Range<Timestamp>?

    /// Watched now for the first time.
    package init(seenAt: Timestamp, gap: Range<Timestamp>? = nil) { (self.seenAt, self.gap) = (seenAt, gap) }

    /// As it is when somebody looks at a moment: maybe with another gap.
    package func seen(at now: Timestamp) -> MonitorWatch {
        var watch = self
        if seenAt.adding(seconds: Self.leastGapSeconds) < now {
            let start = gap.flatMap { $0.upperBound.adding(seconds: Self.joinedSeconds) > seenAt ? $0.lowerBound : nil }
            watch.gap = (start ?? seenAt)..<now
        }
        // A clock that steps back makes no gap later.
        watch.seenAt = now
        return watch
    }
}
