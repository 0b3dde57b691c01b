import TocsinCore

/// How the committed groups of one connection have left topics and feeds, so that the next need not wait to be told.
///
/// A message cannot be stored before its number is known, and the number is known once the topic's row is locked. But where
/// nobody else has written to a topic for a while, its next number is the one after the last that was made here, and all
/// else is as it was. So the whole group is sent with the places that are expected, its commit included, and waits once
/// instead of twice; guards in it fail where the database finds something else (`PlaceGuard`): then nothing of the group
/// happens, and it is run anew and waits for its places. Another connection, perhaps to a server that was promoted, begins with
/// nothing remembered.
struct PlaceMemory {
    /// A topic or feed as the last group here has left it.
    private struct Counter<Value> {
        var last: Int64
        var value: Value
        /// How often places taken here have followed each other without another writer's in between.
        var follows: Int
    }

    private struct Topic {
        /// When its last message was made.
        var madeAt: Timestamp
        /// As it was when places in it were last taken; nil where that was not asked.
        var record: Record?
        /// What it held beside its columns then, as PostgreSQL words it.
        var others: String?
        /// Its few members, who have no device; nil where it has more, or one has a device.
        var deviceless: [UserID]?
    }

    private var topics: [String: Counter<Topic>] = [:]
    private var feeds: [String: Counter<Void>] = [:]
    /// What the open transaction has taken; nil before it has.
    private var taken: (places: TakenPlaces, wanted: WantedPlaces, others: [String: String])?
    private static let maximumCount = 4096
    /// After so many another writer's message is not expected.
    ///
    /// Where several nodes write to one topic it is, mostly, and to be wrong costs the group a second attempt.
    private static let manyFollows = 8

    /// A transaction begins; what one before has taken that was not committed is known no more.
    mutating func begin() {
        if let taken = taken.take() { forget(taken.wanted) }
    }

    /// When the last messages of all these topics were made, by topic, and their numbers; nil where one of them may well not
    /// be the last any more.
    func expectedMessages(in names: some Sequence<String>) -> [String: (number: MessageNumber, madeAt: Timestamp)]? {
        var expected: [String: (number: MessageNumber, madeAt: Timestamp)] = [:]
        for name in names {
            guard let topic = topics[name], topic.follows >= Self.manyFollows else { return nil }
            expected[name] = (topic.last, topic.value.madeAt)
        }
        return expected
    }

    /// The places that the open transaction will be given, if nobody came between; nil where it is better to wait for them.
    func expected(_ wanted: WantedPlaces) -> TakenPlaces? {
        guard taken == nil, let questions = wanted.questions else { return nil }
        var expected = TakenPlaces()
        for owner in wanted.positions.keys {
            guard let feed = feeds[owner], feed.follows >= Self.manyFollows else { return nil }
            expected.firstPositions[owner] = feed.last + 1
        }
        var deviceless: [TopicID: [UserID]] = [:]
        for name in wanted.numbers.keys {
            guard let topic = topics[name], topic.follows >= Self.manyFollows, let record = topic.value.record,
                record.model === questions.topics
            else { return nil }
            let id = TopicID(name)
            expected.firstNumbers[id] = topic.last + 1
            expected.topics[id] = record
            deviceless[id] = topic.value.deviceless
            expected.latestMaking = max(expected.latestMaking ?? topic.value.madeAt, topic.value.madeAt)
        }
        expected.deviceless = deviceless
        return expected
    }

    /// What these topics hold beside their columns, by id.
    func others(in names: some Sequence<String>) -> [String: String] {
        Dictionary(uniqueKeysWithValues: names.compactMap { name in topics[name]?.value.others.map { (name, $0) } })
    }

    /// Notes what the open transaction has taken, or expects to have taken, and what its topics hold beside their columns.
    mutating func note(_ places: TakenPlaces, _ wanted: WantedPlaces, others: [String: String]) {
        guard let former = taken else {
            taken = (places, wanted, others)
            return
        }
        guard former.wanted.isApart(from: wanted) else {
            // What the transaction leaves is not known by one of them.
            forget(former.wanted)
            forget(wanted)
            taken = (TakenPlaces(), WantedPlaces(), [:])
            return
        }
        taken = (former.places.merging(places), former.wanted.merging(wanted), former.others.merging(others) { $1 })
    }

    /// Forgets what is remembered of these: it may be otherwise.
    mutating func forget(_ wanted: WantedPlaces) {
        for name in wanted.numbers.keys { topics[name] = nil }
        for owner in wanted.positions.keys { feeds[owner] = nil }
    }

    /// Notes that the open transaction was committed, and when the messages of its topics were made that are among these.
    mutating func commit(_ events: [DomainEvent]) {
        guard let (places, wanted, others) = taken.take() else { return }
        let makings = Self.latestMakings(events)
        if max(topics.count, feeds.count) >= Self.maximumCount { (topics, feeds) = ([:], [:]) }
        for (name, count) in wanted.numbers {
            let id = TopicID(name)
            guard let first = places.firstNumbers[id], let madeAt = makings[name] else {
                topics[name] = nil
                continue
            }
            let topic = Topic(
                madeAt: madeAt,
                record: places.topics[id],
                others: others[name],
                deviceless: places.deviceless?[id]
            )
            topics[name] = Counter(
                last: first + Int64(count) - 1,
                value: topic,
                follows: topics[name].map { $0.last + 1 == first ? $0.follows + 1 : 0 } ?? 0
            )
        }
        for (owner, count) in wanted.positions {
            guard let first = places.firstPositions[owner] else { continue }
            feeds[owner] = Counter(
                last: first + Int64(count) - 1,
                value: (),
                follows: feeds[owner].map { $0.last + 1 == first ? $0.follows + 1 : 0 } ?? 0
            )
        }
    }

    /// When the last message of each topic among these was made.
    private static func latestMakings(_ events: [DomainEvent]) -> [String: Timestamp] {
        var makings: [String: Timestamp] = [:]
        var last: (topic: String, at: Timestamp)?
        for case .created(let record) in events {
            guard record.number != nil, let making = record.making else { continue }
            if let last, last.topic != making.topic { makings[last.topic] = last.at }
            last = (making.topic, making.at)
        }
        if let last { makings[last.topic] = last.at }
        return makings
    }
}

/// How many places are wanted of which owners' feeds and in which topics, and what else is asked of these.
struct WantedPlaces {
    var positions: [String: Int] = [:]
    var numbers: [String: Int] = [:]
    var questions: PlaceQuestions?

    /// Whether no topic and no feed is of both.
    func isApart(from other: WantedPlaces) -> Bool {
        numbers.keys.allSatisfy { other.numbers[$0] == nil } && positions.keys.allSatisfy { other.positions[$0] == nil }
    }

    /// These and others, which are apart.
    func merging(_ other: WantedPlaces) -> WantedPlaces {
        WantedPlaces(
            positions: positions.merging(other.positions) { $1 },
            numbers: numbers.merging(other.numbers) { $1 }
        )
    }
}

extension TakenPlaces {
    /// These and others, of other topics and feeds.
    fileprivate func merging(_ other: TakenPlaces) -> TakenPlaces {
        var all = self
        all.firstPositions.merge(other.firstPositions) { $1 }
        all.firstNumbers.merge(other.firstNumbers) { $1 }
        all.topics.merge(other.topics) { $1 }
        all.deviceless = (deviceless ?? [:]).merging(other.deviceless ?? [:]) { $1 }
        return all
    }
}
