import TocsinCore

/// The last messages that groups of one connection have made in topics, once these groups were committed.
///
/// When the message before a new one was made need not be asked where that is one of these, which its number says: it was
/// committed, so nobody else has it. Another connection, perhaps to a server that was promoted, begins with none.
struct LastMessages {
    struct Last {
        var number: MessageNumber
        var madeAt: Timestamp
        /// How often messages made here have followed each other without another writer's in between.
        fileprivate var follows = 0
    }

    private var lasts: [String: Last] = [:]
    private static let maximumCount = 4096
    /// After so many another writer's message is not expected.
    ///
    /// Where several nodes write to one topic it is, mostly, and to be wrong costs a wait while the topic's row is held.
    private static let manyFollows = 8

    /// The last messages of all these topics, by id; nil where one of them may well not be the last any more.
    func expected(in topics: some Sequence<String>) -> [String: Last]? {
        var expected: [String: Last] = [:]
        for topic in topics {
            guard let last = lasts[topic], last.follows >= Self.manyFollows else { return nil }
            expected[topic] = last
        }
        return expected
    }

    /// Notes the messages that a group has made and committed, in their order.
    mutating func note(_ events: [DomainEvent]) {
        var run: (topic: String, first: MessageNumber, last: Last)?
        for case .created(let record) in events {
            guard let number = record.number, let making = record.making else { continue }
            let last = Last(number: number, madeAt: making.at)
            if let begun = run, begun.topic == making.topic, begun.last.number + 1 == number {
                run?.last = last
                continue
            }
            if let run { add(run) }
            run = (making.topic, number, last)
        }
        if let run { add(run) }
    }

    private mutating func add(_ run: (topic: String, first: MessageNumber, last: Last)) {
        if lasts.count >= Self.maximumCount { lasts.removeAll() }
        var last = run.last
        if let before = lasts[run.topic], before.number + 1 == run.first { last.follows = before.follows + 1 }
        lasts[run.topic] = last
    }
}
