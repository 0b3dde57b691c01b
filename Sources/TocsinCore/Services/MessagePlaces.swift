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
        var (owners, numbers) = (PlaceCounts<String>(), PlaceCounts<TopicID>())
        for (place, topic) in topics.enumerated() {
            numbers.count(topic)
            if let owner = records[place].owner { owners.count(owner) }
        }
        let places = try writer.takePlaces(owners.counts, numbers.counts, asking: questions)
        owners.begin(at: places.firstPositions)
        numbers.begin(at: places.firstNumbers)
        for (place, topic) in topics.enumerated() {
            guard let taken = numbers.next(of: topic) else { return Taken(absent: topic) }
            records[place].values[number] = .int(taken)
            guard let field = model.places.feedPosition, let owner = records[place].owner,
                let position = owners.next(of: owner)
            else { continue }
            records[place].values[field] = .int(position)
        }
        return Taken(latestMaking: places.latestMaking, deviceless: places.deviceless, topics: places.topics)
    }
}

/// Places that are counted by name and then given out, each name's in order; the same name again costs no search.
private struct PlaceCounts<Name: Hashable> {
    private var numbersOfNames: [Name: Int] = [:]
    private var names: [(name: Name, count: Int, next: Int64?)] = []
    private var last: Int?

    /// How many are wanted of each name.
    var counts: [Name: Int] { Dictionary(uniqueKeysWithValues: names.map { ($0.name, $0.count) }) }

    /// Sets the first of each name; a name without one gets none.
    mutating func begin(at firsts: [Name: Int64]) {
        for index in names.indices { names[index].next = firsts[names[index].name] }
    }

    mutating func count(_ name: Name) { names[index(of: name)].count += 1 }

    /// The next place of a name that was counted.
    mutating func next(of name: Name) -> Int64? {
        let index = index(of: name)
        guard let next = names[index].next else { return nil }
        names[index].next = next + 1
        return next
    }

    private mutating func index(of name: Name) -> Int {
        if let last, names[last].name == name { return last }
        let index = numbersOfNames[name] ?? names.count
        if index == names.count {
            names.append((name, 0, nil))
            numbersOfNames[name] = index
        }
        last = index
        return index
    }
}
