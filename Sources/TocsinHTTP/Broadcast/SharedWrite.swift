import GraphQLTransport

/// Responses that are being written to the sinks they go to, one sink after the other, in a circle.
///
/// Later responses for the same sinks join wherever the circle stands. They leave it when every
/// sink has them. So each sink gets at once all that has come since its last turn, in order.
struct SharedWrite {
    private let sinks: [any ResponseSink]
    /// Whose turn it is next.
    private var position = 0
    /// The responses under way, in the order in which they joined, and how many
    /// sinks are still to get them.
    private var batches: [(responses: [SharedResponse], left: Int)] = []
    /// All of them as one; nil when they have changed.
    private var together: ResponseBatch?
    /// So many responses, or bytes of them, may be under way.
    private static let maximum = (responses: 64, bytes: 65_536)

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

    mutating func join(_ responses: [SharedResponse]) {
        batches.append((responses, sinks.count))
        together = nil
    }

    /// The next sinks, so many at most, what they get, and whether some responses
    /// have now been everywhere.
    mutating func take(_ limit: Int) -> (ArraySlice<any ResponseSink>, ResponseBatch, Bool) {
        let batch = together ?? ResponseBatch(batches.flatMap(\.responses))
        // The first to join are the first to leave.
        let count = min(limit, sinks.count - position, batches.first?.left ?? 0)
        let slice = sinks[position..<(position + count)]
        position = (position + count) % max(1, sinks.count)
        for index in batches.indices { batches[index].left -= count }
        let remaining = batches.drop { $0.left == 0 }
        let isLess = remaining.count < batches.count
        together = isLess ? nil : batch
        if isLess { batches = Array(remaining) }
        return (slice, batch, isLess)
    }
}
