/// New messages of one model on their way into the store: the database
/// numbers them as it stores them.
///
/// Each gets the next number in its topic and the next position in its owner's feed.
///
/// **Numbers and positions are in order of commit.** Both come from counters in rows (of `topics`,
/// of `feeds`). The transaction that raises a counter keeps its row locked until it has ended. So
/// whoever reads a number has everything before it in sight: a lower number belongs to a
/// transaction that committed earlier, and none is given later. This holds with one writer and with
/// many, survives restarts, and means the same on every node.
///
/// **Nobody waits in a circle.** All writers lock rows in one order: those of `feeds` by
/// owner, then those of `topics` by id. A write of many messages locks all owners' rows before
/// the first topic's. Two owners who publish to one topic (a model's rules may let them) meet
/// at the topic's row alone.
package final class NewMessages {
    /// In the order in which they are numbered.
    ///
    /// Until the database has answered, a message's number says how many messages are behind it in
    /// its topic. Its position says how many are behind it in its owner's feed.
    package private(set) var records: [Record]
    /// The indexes of the messages of each topic.
    package let ofTopic: [String: [Int]]
    /// The indexes of the messages in each owner's feed.
    package let ofOwner: [String: [Int]]
    private var unnumbered: Int

    /// Messages in their order, without numbers.
    package init(_ records: consuming [Record]) {
        var records = records
        var (ofTopic, ofOwner) = (IndexesByName(), IndexesByName())
        let known = records.first?.model.knownPositions
        if let model = records.first?.model, let number = model.numberPosition, let topic = known?.topic {
            for index in records.indices { ofTopic.add(index, to: records[index].values[topic].text ?? "") }
            ofTopic.countBehind { records[$0].values[number] = .int(Int64($1)) }
        }
        if let position = known?.feedPosition {
            for index in records.indices {
                if let owner = records[index].owner { ofOwner.add(index, to: owner) }
            }
            ofOwner.countBehind { records[$0].values[position] = .int(Int64($1)) }
        }
        self.records = records
        (self.ofTopic, self.ofOwner) = (ofTopic.indexes, ofOwner.indexes)
        unnumbered = ofTopic.indexes.count
    }

    /// Whether all have their numbers.
    package var areNumbered: Bool { unnumbered == 0 }

    /// Numbers the messages of a topic, the last of which has this number.
    package func assign(lastNumber: MessageNumber, ofTopic topic: String) {
        guard let field = records.first?.model.numberPosition, let indexes = ofTopic[topic] else { return }
        assign(lastNumber, to: indexes, field)
        unnumbered -= 1
    }

    /// Gives the messages of an owner their positions in the feed, the last of which is this.
    package func assign(lastPosition: FeedPosition, ofOwner owner: String) {
        guard let field = records.first?.model.knownPositions.feedPosition, let indexes = ofOwner[owner] else { return }
        assign(lastPosition, to: indexes, field)
    }

    /// Takes the messages as they are stored.
    package func read(from reader: any StoreReader) throws(StoreError) {
        guard let model = records.first?.model else { return }
        var stored: [String: Record] = [:]
        for record in try reader.records(model, ids: records.map(\.id), where: .always) { stored[record.id] = record }
        let found = records.compactMap { stored[$0.id] }
        guard found.count == records.count else {
            throw .mismatch(reason: "\(records.count - found.count) messages that were just stored are gone.")
        }
        (records, unnumbered) = (found, 0)
    }

    private func assign(_ last: Int64, to indexes: [Int], _ field: Int) {
        for index in indexes { records[index].values[field] = .int(last - (records[index].values[field].int ?? 0)) }
    }
}

/// Indexes by name.
private struct IndexesByName {
    private(set) var indexes: [String: [Int]] = [:]

    mutating func add(_ index: Int, to name: String) { indexes[name, default: []].append(index) }

    /// Tells of each index how many of its name follow.
    func countBehind(_ body: (_ index: Int, _ behind: Int) -> Void) {
        for indexes in indexes.values {
            for (rank, index) in indexes.enumerated() { body(index, indexes.count - 1 - rank) }
        }
    }
}

/// A topic whose row is locked.
package struct HeldTopic: Sendable {
    /// Topics of so many members are looked through for devices when a message is created.
    package static let fewMembers = 8

    /// The topic.
    package var record: Record
    /// The members, where they are few and none has a device; nil elsewhere.
    package var membersWithoutDevice: [UserID]?

    /// A topic as it is held.
    package init(record: Record, membersWithoutDevice: [UserID]? = nil) {
        (self.record, self.membersWithoutDevice) = (record, membersWithoutDevice)
    }
}

/// Topics under their locks.
package struct HeldTopics: Sendable {
    /// Those that are there.
    package var topics: [TopicID: HeldTopic]
    /// When the latest message in any of them was made; nil where there is none, or one writer
    /// makes all messages, in order.
    package var latestMaking: Timestamp?

    /// None, unless they are given.
    package init(topics: [TopicID: HeldTopic] = [:], latestMaking: Timestamp? = nil) {
        (self.topics, self.latestMaking) = (topics, latestMaking)
    }
}
