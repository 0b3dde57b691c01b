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
        if let owner = record.owner { record[ModelType.feedPosition] = .int(try writer.takePosition(of: owner)) }
        guard let number = try writer.takeNumber(of: topic) else { return nil }
        record["number"] = .int(number)
        return number
    }
}
