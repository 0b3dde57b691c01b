/// How a monitor stands.
package enum MonitorState: String, Sendable, CaseIterable {
    /// Nothing has come yet, so nothing is missed.
    case new = "NEW"
    /// The last ping came in time.
    case up = "UP"
    /// The work has begun and has not ended.
    case running = "RUNNING"
    /// A ping is due, and its grace goes on.
    case late = "LATE"
    /// It is missed, has failed, or runs too long.
    case down = "DOWN"
    /// It is not watched for a time.
    case paused = "PAUSED"
}
