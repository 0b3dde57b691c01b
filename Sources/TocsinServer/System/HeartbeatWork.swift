package import TocsinCore

/// What the heartbeat vouches for, as it stands now.
package struct HeartbeatWork: Sendable {
    /// Why the database takes no writes; nil: it does.
    package var refusal: String?
    /// When the timer that is due first is due; nil: there is none.
    package var firstTimer: Timestamp?
    /// The provider lanes that are paused.
    package var pausedLanes: [String] = []

    /// How late a timer may be.
    private static let lateSeconds = 60.0

    /// All is well.
    package init() {}

    /// Why the heartbeat is withheld; nil: all is well.
    package func obstacle(at now: Timestamp) -> String? {
        if let refusal { return "the database takes no writes: \(refusal)" }
        if let firstTimer, firstTimer.adding(seconds: Self.lateSeconds) < now {
            return "a timer that was due at \(firstTimer.iso8601) has not been fired"
        }
        guard !pausedLanes.isEmpty else { return nil }
        return "pushes are paused: \(pausedLanes.sorted().joined(separator: ", "))"
    }
}
