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
enum MessageNumbering {
    /// Gives the record its places; answers its number, or nil when there is no such topic.
    static func take(
        for record: inout Record,
        in topic: TopicID,
        _ writer: any StoreWriter
    ) throws(StoreError) -> MessageNumber? {
        var records = [record]
        let taken = try take(for: &records, in: [topic], at: [0], writer)
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

    /// Gives records of one model their places, in their order, each in the topic that stands at its place among these.
    static func take(
        for records: inout [Record],
        in topics: [TopicID],
        at topicPlaces: [Int],
        asking questions: PlaceQuestions? = nil,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Taken {
        guard let model = records.first?.model, let number = model.numberPosition else { return Taken() }
        var numbers = PlaceCounts(names: topics)
        for place in topicPlaces { numbers.count(place) }
        var owners = NamePlaces<String>()
        let ownerPlaces = records.map { $0.owner.map { owners.place(of: $0) } }
        var positions = PlaceCounts(names: owners.names)
        for case let place? in ownerPlaces { positions.count(place) }
        let places = try writer.assignNumbers(positions.counts, numbers.counts, asking: questions)
        positions.begin(at: places.firstPositions)
        numbers.begin(at: places.firstNumbers)
        let feedPosition = model.places.feedPosition
        for (index, topic) in topicPlaces.enumerated() {
            guard let taken = numbers.next(of: topic) else { return Taken(absent: topics[topic]) }
            records[index].values[number] = .int(taken)
            guard let feedPosition, let owner = ownerPlaces[index], let position = positions.next(of: owner) else {
                continue
            }
            records[index].values[feedPosition] = .int(position)
        }
        return Taken(latestMaking: places.latestMaking, deviceless: places.deviceless, topics: places.topics)
    }
}

/// Places that are counted for each of some names, which differ, and then given out, each name's in order.
private struct PlaceCounts<Name: Hashable> {
    private let names: [Name]
    private var wanted: [Int]
    private var next: [Int64?] = []

    init(names: [Name]) {
        self.names = names
        wanted = Array(repeating: 0, count: names.count)
    }

    mutating func count(_ name: Int) { wanted[name] += 1 }

    /// How many are wanted of each name that any are wanted of.
    var counts: [Name: Int] {
        var counts: [Name: Int] = [:]
        for (name, count) in zip(names, wanted) where count > 0 { counts[name] = count }
        return counts
    }

    /// Sets the first of each name; a name without one gets none.
    mutating func begin(at firsts: [Name: Int64]) { next = names.map { firsts[$0] } }

    mutating func next(of name: Int) -> Int64? {
        guard let place = next[name] else { return nil }
        next[name] = place + 1
        return place
    }
}
