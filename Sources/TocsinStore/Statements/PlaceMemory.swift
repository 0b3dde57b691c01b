import TocsinCore

/// What the last committed groups of a session have left of counters, so that the next need not wait for them.
///
/// A group of messages must know their numbers before it can send them, and while it asks, the database has nothing else of
/// it to do. But while nobody else writes to a topic its next number is known: so the group sends its messages with what it
/// expects, behind a statement that fails the transaction unless the rows, locked by then, say the same (`ExpectedPlaces`).
/// Such a failure is an `overtaken`: the group is run anew, and asks, as nothing of these rows is remembered then.
///
/// Expected are the places of groups that write to one topic and one owner's feed, once some in a row have found what would
/// have been expected: where several nodes write to a topic in turn, all of them ask.
struct PlaceMemory {
    private var topics: [TopicID: ExpectedPlaces] = [:]
    private var lastPositions: [String: FeedPosition] = [:]
    /// What the open transaction leaves once it is committed.
    private var left: ExpectedPlaces?
    private static let maximumCount = 1024

    /// Notes that a transaction begins.
    mutating func begin() { left = nil }

    /// Gives out what is remembered of these rows, which until the commit is remembered no more.
    mutating func take(_ positions: [String: Int], _ numbers: [TopicID: Int]) -> ExpectedPlaces? {
        left = nil
        let grounds = numbers.keys.map { topics.removeValue(forKey: $0) }
        let last = positions.keys.map { ($0, lastPositions.removeValue(forKey: $0)) }
        guard numbers.count == 1, last.count == 1, var expected = grounds[0], let position = last[0].1 else { return nil }
        (expected.owner, expected.lastPosition) = (last[0].0, position)
        return expected
    }

    /// Notes what the open transaction has taken, or expects to have taken.
    mutating func note(_ taken: ExpectedPlaces) { left = taken }

    /// Notes when the messages were made that the open transaction has taken places for.
    mutating func noteMaking(_ moment: Timestamp) { left?.latestMaking = moment }

    /// Notes that the transaction is committed.
    mutating func commit() {
        guard let left else { return }
        if max(topics.count, lastPositions.count) >= Self.maximumCount { (topics, lastPositions) = ([:], [:]) }
        topics[left.topicID] = left
        lastPositions[left.owner] = left.lastPosition
        self.left = nil
    }
}

/// One topic and one owner's feed, as a committed transaction has left them.
///
/// **Why what is checked is enough.** A topic's number rises with each message: while it stands where this session has left
/// it, no message came between, and its latest is the one that this session made. Its version rises with each other change.
/// Members and whether they have devices are compared as they are.
struct ExpectedPlaces {
    let topicID: TopicID
    let record: Record
    var lastNumber: MessageNumber
    var owner: String
    var lastPosition: FeedPosition
    /// When the topic's last message was made.
    var latestMaking: Timestamp?
    let members: [FewMembers.Row]
    let fewMembers: Int
    /// How many groups in a row have found what was expected.
    private(set) var confirmations = 0
    private static let neededConfirmations = 2

    /// What so many messages were given, when all went to one topic and one owner's feed.
    init?(_ taken: TakenPlaces, of count: Int, _ members: [FewMembers.Row], _ questions: PlaceQuestions) {
        guard let (topicID, number) = taken.firstNumbers.first, let record = taken.topics[topicID],
            let (owner, position) = taken.firstPositions.first
        else { return nil }
        (self.topicID, self.record, self.owner) = (topicID, record, owner)
        lastNumber = number + Int64(count) - 1
        lastPosition = position + Int64(count) - 1
        latestMaking = taken.latestMaking
        (self.members, fewMembers) = (members, questions.fewMembers)
    }

    /// The same, having been found so once more.
    func confirmed(by former: ExpectedPlaces?, _ count: Int) -> Self {
        var confirmed = self
        let isMet =
            former?.lastNumber == lastNumber - Int64(count) && former?.lastPosition == lastPosition - Int64(count)
        confirmed.confirmations = isMet ? (former?.confirmations ?? 0) + 1 : 0
        return confirmed
    }

    /// The places that the next so many messages get; nil where it is better to ask.
    func next(_ questions: PlaceQuestions?) -> TakenPlaces? {
        guard confirmations >= Self.neededConfirmations, let questions, questions.fewMembers == fewMembers,
            questions.topics === record.model, record.version > 0
        else { return nil }
        var places = TakenPlaces(
            firstPositions: [owner: lastPosition + 1],
            firstNumbers: [topicID: lastNumber + 1]
        )
        var few = FewMembers(of: [topicID], limit: fewMembers)
        for member in members { few.add(member) }
        (places.topics, places.latestMaking, places.deviceless) = ([topicID: record], latestMaking, few.withoutDevice)
        return places
    }

    /// The same after so many messages more.
    func after(_ count: Int) -> Self {
        var next = self
        next.lastNumber += Int64(count)
        next.lastPosition += Int64(count)
        return next
    }

    /// Fails, by dividing by zero, unless the rows are as expected; behind the statements that have changed and locked them.
    var check: (sql: String, bindings: [SQLValue]) {
        let flags = ParameterLists(count: 1)
        for member in members { flags.bind(member.mark, at: 1) }
        let bindings: [SQLValue] = [
            .text(topicID.text), .int(lastNumber), .int(record.version), SQLValue(record.owner), .text(owner),
            .int(lastPosition), .int(Int64(fewMembers + 1)),
        ]
        return (Self.checkText, bindings + flags.bindings)
    }

    private static let checkText = """
        SELECT 1 / count(*) FROM topics AS t JOIN feeds AS f ON f.owner = $5
        WHERE t.id = $1 AND t.last_number = $2 AND t.version = $3 AND t.owner IS NOT DISTINCT FROM $4
            AND coalesce(t.deleted, 0) = 0 AND f.last_position = $6
            AND ARRAY(SELECT m.user_id || CASE WHEN m.has_device THEN '+' ELSE '-' END
                FROM (\(FewMembers.selection(limit: "$7"))) AS m (topic_id, user_id, has_device)) = $8::text[]
        """
}
