import TocsinCore

/// How the committed groups of one connection have left topics and feeds, so that the next need not wait to be told.
///
/// A message cannot be stored before its number is known, and the number is known once the topic's row is locked. But where
/// nobody else has written to a topic for a while, its next number is the one after the last that was made here, and all
/// else is as it was. So the whole group is sent with the places that are expected, its commit included, and waits once
/// instead of twice; it fails where another transaction has changed the row since (`PlaceGuard`): then nothing of the group
/// happens, and it is run anew and waits for its places. Another connection, perhaps to a server that was promoted, begins with
/// nothing remembered.
struct PlaceMemory {
    /// A topic or feed as the last group here has left it.
    private struct Counter<Value> {
        var last: Int64
        var value: Value
        /// The number of the transaction that has left it so.
        var transaction: String
        /// How often places taken here have followed each other without another writer's in between.
        var follows: Int

        /// As parameters of `PlaceGuard`.
        var left: [SQLValue] { [.text(transaction), .int(last)] }
    }

    private struct Topic {
        /// When its last message was made.
        var madeAt: Timestamp
        /// As it was when places in it were last taken; nil where that was not asked.
        var record: Record?
        /// Its few members, who have no device; nil where it has more, or one has a device.
        var deviceless: [UserID]?
        /// The run that its last messages are in.
        var run: OpenRun?
    }

    /// What the open transaction has taken.
    private struct Taken {
        var places = TakenPlaces()
        var wanted = WantedPlaces()
        /// The runs that the messages are in, by topic.
        var runs: [String: OpenRun] = [:]
        /// The runs that topics say are open, which the messages are not in.
        var left: [String: OpenNumbers] = [:]
    }

    private var topics: [String: Counter<Topic>] = [:]
    private var feeds: [String: Counter<Void>] = [:]
    /// What the open transaction has taken; nil before it has.
    private var taken: Taken?
    /// What of that it only expects to have taken.
    private(set) var unconfirmed: ExpectedPlaces?
    private static let maximumCount = 4096
    /// After so many another writer's message is not expected.
    ///
    /// Where several nodes write to one topic it is, mostly, and to be wrong costs the group a second attempt.
    private static let manyFollows = 8

    /// A transaction begins; what one before has taken that was not committed is known no more.
    mutating func begin() {
        unconfirmed = nil
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
        guard taken == nil, !wanted.numbers.isEmpty, let questions = wanted.questions else { return nil }
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

    /// How this topic is expected to have been left: its last number, and by which transaction.
    func left(topic name: String) -> [SQLValue]? { topics[name]?.left }

    /// The same of the feed of this owner.
    func left(feedOf owner: String) -> [SQLValue]? { feeds[owner]?.left }

    /// Notes what the open transaction expects to have taken.
    mutating func expect(_ places: TakenPlaces, _ wanted: WantedPlaces) {
        var left: [String: OpenNumbers] = [:]
        var runs: [String: OpenRun] = [:]
        for name in wanted.numbers.keys {
            guard let topic = topics[name], let run = topic.value.run else { continue }
            if let lengthened = lengthened(inTopic: name, with: places, wanted) {
                runs[name] = lengthened
            } else if run.isOpen {
                left[name] = OpenNumbers(first: run.first, last: topic.last)
            }
        }
        note(places, wanted, leaving: left)
        taken?.runs = runs
        unconfirmed = ExpectedPlaces(places: places, wanted: wanted)
    }

    /// The run that the messages at these expected places in a topic are to be in, as it is with them; nil where that is to
    /// be a new one, or none.
    ///
    /// A run that might be gone by its age is never made longer, however long ago the last message was.
    func lengthened(inTopic name: String, with places: TakenPlaces, _ wanted: WantedPlaces) -> OpenRun? {
        guard let topic = topics[name]?.value, var run = topic.run, run.users == topic.deviceless,
            let now = wanted.questions?.now, let latest = places.latestMaking,
            max(now, latest) < run.madeAt.adding(seconds: DevicelessRun.longestSeconds)
        else { return nil }
        run.isOpen = true
        return run
    }

    /// Notes what the open transaction has taken, and the runs that topics say are open.
    mutating func note(
        _ places: TakenPlaces,
        _ wanted: WantedPlaces,
        leaving left: [String: OpenNumbers]
    ) {
        guard var former = taken else {
            taken = Taken(places: places, wanted: wanted, left: left)
            return
        }
        for name in wanted.numbers.keys { former.runs[name] = nil }
        former.left.merge(left) { $1 }
        if former.wanted.isApart(from: wanted) {
            (former.places, former.wanted) = (former.places.merging(places), former.wanted.merging(wanted))
        } else {
            // What the transaction leaves is not known by one of them.
            forget(former.wanted)
            forget(wanted)
            (former.places, former.wanted) = (TakenPlaces(), WantedPlaces())
        }
        taken = former
    }

    /// Notes that the open transaction saves a run of the messages that it has taken places for; answers which run it ends,
    /// or that this one need not be stored, since the topic itself tells it.
    mutating func note(_ run: DevicelessRun) -> RunSaving {
        let name = run.topicID.text
        if taken?.runs[name]?.isOpen == true { return .told }
        taken?.runs[name] = OpenRun(
            first: run.numbers.lowerBound,
            users: run.users,
            madeAt: run.madeAt,
            isOpen: false
        )
        return .stored(ending: taken?.left.removeValue(forKey: name))
    }

    /// Forgets a topic that the open transaction changes otherwise: the row does not tell that from its places' being taken.
    mutating func change(topic name: String) {
        topics[name] = nil
        taken?.wanted.numbers[name] = nil
    }

    /// Forgets a feed that the open transaction changes otherwise.
    mutating func change(feedOf owner: String) {
        feeds[owner] = nil
        taken?.wanted.positions[owner] = nil
    }

    /// Forgets what is remembered of these: it may be otherwise.
    mutating func forget(_ wanted: WantedPlaces) {
        for name in wanted.numbers.keys { topics[name] = nil }
        for owner in wanted.positions.keys { feeds[owner] = nil }
    }

    /// Notes that the open transaction was committed, and when the messages of its topics were made that are among these.
    ///
    /// Without its number, as in a savepoint, which numbers rows by itself, it is not known how to find its rows unchanged.
    mutating func commit(_ events: [DomainEvent], as transaction: String?) {
        guard let taken = taken.take() else { return }
        let (places, wanted) = (taken.places, taken.wanted)
        guard let transaction else { return forget(wanted) }
        let makings = Self.latestMakings(events)
        if max(topics.count, feeds.count) >= Self.maximumCount { (topics, feeds) = ([:], [:]) }
        for (name, count) in wanted.numbers {
            let id = TopicID(name)
            guard let first = places.firstNumbers[id], let madeAt = makings[name] else {
                topics[name] = nil
                continue
            }
            topics[name] = Counter(
                last: first + Int64(count) - 1,
                value: Topic(
                    madeAt: madeAt,
                    record: places.topics[id],
                    deviceless: places.deviceless?[id],
                    run: taken.runs[name]
                ),
                transaction: transaction,
                follows: topics[name].map { $0.last + 1 == first ? $0.follows + 1 : 0 } ?? 0
            )
        }
        for (owner, count) in wanted.positions {
            guard let first = places.firstPositions[owner] else { continue }
            feeds[owner] = Counter(
                last: first + Int64(count) - 1,
                value: (),
                transaction: transaction,
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

/// A run that the last messages of a topic are in, which the next may be in as well.
struct OpenRun {
    var first: MessageNumber
    var users: [UserID]
    var madeAt: Timestamp
    /// Whether the topic says how long it is, and not the run's own row.
    var isOpen: Bool
}

/// The numbers of a run that a topic says is open.
struct OpenNumbers {
    var first: MessageNumber
    var last: MessageNumber
}

/// How a run of the messages of a group is saved.
enum RunSaving {
    /// As a row; the run that the topic says is open has these numbers, and is longer no more.
    case stored(ending: OpenNumbers?)
    /// By the topic's row, which was told with the places.
    case told
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

/// Places that are expected to be taken, and what was asked for.
struct ExpectedPlaces {
    var places: TakenPlaces
    var wanted: WantedPlaces
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
