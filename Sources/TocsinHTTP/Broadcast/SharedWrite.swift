import GraphQLTransport

/// Responses that are being written to the sinks they go to, one sink after the other, in a circle.
///
/// Later responses for the same sinks join wherever the circle stands. They leave it when every
/// sink has them. So each sink gets at once all that has come since its last turn, in order.
struct SharedWrite {
    private let sinks: [any ResponseSink]
    /// Whose turn it is next.
    private var position = 0
    /// The responses under way, in the order in which they joined.
    private var batches: [Batch] = []
    /// All of them as one; nil when they have changed.
    private var together: ResponseBatch?
    /// So many responses, or bytes of them, may be under way.
    private static let maximum = (responses: 64, bytes: 65_536)

    /// Responses that joined together.
    private struct Batch {
        let responses: [SharedResponse]
        /// Told when every sink has them.
        let watch: (any WriteWatch)?
        /// How many sinks are still to get them.
        var left: Int
    }

    /// What sinks get in one turn.
    struct Turn {
        let sinks: ArraySlice<any ResponseSink>
        let batch: ResponseBatch
        /// Whether some responses have been everywhere after it.
        let isLess: Bool
        /// To be told once it is written.
        var watches: [any WriteWatch] = []
    }

    init(_ sinks: [any ResponseSink]) { self.sinks = sinks }

    /// Whether these are the same sinks: the same list, as we keep ours.
    func isFor(_ others: [any ResponseSink]) -> Bool {
        guard others.count == sinks.count else { return false }
        return sinks.withUnsafeBufferPointer { mine in
            others.withUnsafeBufferPointer { $0.baseAddress == mine.baseAddress }
        }
    }

    /// How many sinks are still to be written to.
    var sinksLeft: Int { batches.last?.left ?? 0 }

    var isOver: Bool { batches.isEmpty }

    /// Whether more responses may join.
    var hasRoom: Bool {
        var (count, bytes) = (0, 0)
        for batch in batches {
            count += batch.responses.count
            for response in batch.responses { bytes += response.body.count }
        }
        return count < Self.maximum.responses && bytes < Self.maximum.bytes
    }

    mutating func join(_ responses: [SharedResponse], _ watch: (any WriteWatch)?) {
        batches.append(Batch(responses: responses, watch: watch, left: sinks.count))
        together = nil
    }

    /// The turn of the next sinks, so many at most.
    mutating func take(_ limit: Int) -> Turn {
        let batch = together ?? ResponseBatch(batches.flatMap(\.responses))
        // The first to join are the first to leave.
        let count = min(limit, sinks.count - position, batches.first?.left ?? 0)
        let slice = sinks[position..<(position + count)]
        position = (position + count) % max(1, sinks.count)
        for index in batches.indices { batches[index].left -= count }
        let remaining = batches.drop { $0.left == 0 }
        let isLess = remaining.count < batches.count
        var turn = Turn(sinks: slice, batch: batch, isLess: isLess)
        together = isLess ? nil : batch
        if isLess {
            turn.watches = batches[..<remaining.startIndex].compactMap(\.watch)
            batches = Array(remaining)
        }
        return turn
    }
}
