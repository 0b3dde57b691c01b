package import TocsinCore

/// A lane that sends nothing for a while.
package struct PausedLane: Sendable, Hashable {
    /// Which lane.
    package let lane: PushLane
    /// Why, for operators.
    package let reason: String
    /// When the next push of it may go.
    package let until: Timestamp
}

extension OutboxWorker {
    /// How many pushes each provider has under way now.
    package var underWay: [PushService: Int] { context.inFlight.underWay }

    /// The lanes that are paused now, in no order; there are at most a thousand lanes.
    package var pausedLanes: [PausedLane] { context.breakers.paused(now: context.time.now()) }
}
