/// Where a new message stands: its position in its owner's feed and its number in its topic, both in order of commit.
///
/// **Why they are orders of commits.** Each is handed out inside the writing transaction by changing a row (of `feeds`, of
/// `topics`) that stays locked until that transaction has ended. So whoever reads a place has everything before it in
/// sight: a lower one belongs to a transaction that committed earlier, and none is handed out later. That holds with one
/// writer, where it is trivial, and with many on PostgreSQL; it survives restarts, because the rows are the only counters,
/// and means the same on every node.
///
/// **Why nobody waits in a circle.** All writers lock in one order: rows of `feeds` first, by owner, then rows of `topics`,
/// by id; one that writes many messages takes all owners' rows before the first topic's. A cycle would need somebody who
/// holds a later row and asks for an earlier one. Two owners who publish to one topic (a model's rules may let them) meet
/// at the topic's row alone, while each holds the feed's row that the other does not want.
enum MessagePlaces {
    /// Gives the record its places; answers its number, or nil when there is no such topic.
    static func take(
        for record: inout Record,
        in topic: TopicID,
        _ writer: any StoreWriter
    ) throws(StoreError) -> MessageNumber? {
        var records = [record]
        let taken = try take(for: &records, in: [topic], writer)
        record = records[0]
        return taken.absent == nil ? record.number : nil
    }

    /// What came of taking places.
    struct Taken {
        /// A topic that is not there, if there is one.
        var absent: TopicID?
        /// When the latest of the messages before these was made, where that is not known anyway.
        var latestMaking: Timestamp?
        /// The topics' members, where they are few, have no device and were asked for.
        var deviceless: [TopicID: [UserID]]?
        /// The topics as they are now, where they were asked for.
        var topics: [TopicID: Record] = [:]
    }

    /// Gives records of one model their places, each in the topic beside it, in their order.
    static func take(
        for records: inout [Record],
        in topics: [TopicID],
        asking questions: PlaceQuestions? = nil,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Taken {
        guard let model = records.first?.model, let number = model.numberPosition else { return Taken() }
        let owners = records.reduce(into: [String: Int]()) { counts, record in
            if let owner = record.owner { counts[owner, default: 0] += 1 }
        }
        let numbers = topics.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        let places = try writer.takePlaces(owners, numbers, asking: questions)
        var (nextPosition, nextNumber) = (places.firstPositions, places.firstNumbers)
        for (place, topic) in topics.enumerated() {
            guard let taken = nextNumber[topic] else { return Taken(absent: topic) }
            records[place].values[number] = .int(taken)
            nextNumber[topic] = taken + 1
            guard let field = model.places.feedPosition, let owner = records[place].owner,
                let position = nextPosition[owner]
            else { continue }
            records[place].values[field] = .int(position)
            nextPosition[owner] = position + 1
        }
        return Taken(latestMaking: places.latestMaking, deviceless: places.deviceless, topics: places.topics)
    }
}
