import GraphQLTransport
package import Metrics
import Synchronization

/// Counts groups and replays of the live feed, and measures the way from commits to sockets.
package final class LiveMetrics: MetricSource {
    /// Which node made the commit.
    enum Hop: String, MetricLabel {
        static let labelName = "hop"
        case same, other
    }

    /// How a replay ended, or why it could not begin.
    enum Replay: String, MetricLabel {
        static let labelName = "result"
        case complete
        case badCursor = "bad_cursor"
        case cursorExpired = "cursor_expired"
        /// The subscriber left, or the server could not go on.
        case cut
    }

    private let commitToSocket = HistogramSet<Hop>(bounds: Histogram.fast)
    /// Groups of equal subscribers.
    let groups = Gauge()
    /// Members of a group at each of its turns.
    let groupMembers = Histogram(bounds: Histogram.sizes)
    let replays = CounterSet<Replay>()
    /// Stored messages that were handed over.
    let replayed = Counter()

    /// Counts of 0.
    package init() {}

    /// Watches a turn's responses, the oldest of them that of this event, on their way to so many
    /// lists of members; nil for none.
    func watch(_ event: LiveEvent, _ lists: Int) -> TurnWatch? {
        guard lists > 0 else { return nil }
        return TurnWatch(lists, since: event.committedAt, commitToSocket[event.isFromHere ? .same : .other])
    }

    /// The figures of now.
    package var families: [MetricFamily] {
        [
            .histogram(
                "tocsin_commit_to_socket_seconds",
                "From a commit until the last member of a group was written to, one sample a group and turn",
                commitToSocket
            ),
            .gauge("tocsin_live_groups", "Groups of equal subscribers", groups.value),
            .histogram("tocsin_live_group_members", "Members of a group at each of its turns", groupMembers),
            .counter("tocsin_replays_total", "Replays of stored messages, by how they ended", replays),
            .counter("tocsin_replay_messages_total", "Stored messages that were replayed", replayed),
        ]
    }
}

/// Measures how long the responses of one turn take until the slowest member has been written to.
final class TurnWatch: WriteWatch {
    private let left: Atomic<Int>
    private let isWritten = Atomic(false)
    private let since: ContinuousClock.Instant
    private let histogram: Histogram

    init(_ lists: Int, since: ContinuousClock.Instant, _ histogram: Histogram) {
        left = Atomic(lists)
        (self.since, self.histogram) = (since, histogram)
    }

    func written() {
        isWritten.store(true, ordering: .relaxed)
        pass()
    }

    /// Nobody of one list wanted any of the responses.
    func pass() {
        guard left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0,
            isWritten.load(ordering: .relaxed)
        else { return }
        histogram.record(.now - since)
    }
}
