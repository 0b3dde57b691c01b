import TocsinCore

private enum SQL {
    /// When the messages were made that stand before the last so many of each topic.
    ///
    /// Each is looked up by itself: joined, they were found by reading all of the topic, by a plan from when it had none. And
    /// in order, which one index has: without, such a plan took whichever begins with the topic.
    static let latestMaking = """
        SELECT max((\(making("n.count")))) FROM unnest($1::text[], $2::bigint[]) AS n (topic, count)
            JOIN topics AS t ON t.id = n.topic
        """
    /// The same for one topic, `$1`.
    ///
    /// Of lists PostgreSQL thinks too highly to keep a plan for what one topic needs, and plans each time.
    static let latestMakingOfOne = "SELECT (\(making("$2"))) FROM topics AS t WHERE t.id = $1"
    private static func making(_ count: String) -> String {
        """
        SELECT m.made_at FROM messages AS m WHERE m.topic_id = t.id AND m.number <= t.last_number - \(count)
        ORDER BY m.number DESC NULLS LAST LIMIT 1
        """
    }
}

/// Counters in rows of a table: how some are raised, in order of their names, and what they are then.
struct Counters: Sendable {
    /// Raises the one named `$1` by `$2`.
    let raise: String
    /// Names and values of those with these names.
    let selection: @Sendable (_ names: String) -> String
    /// Raises those named by the list `$1` by the list `$2`, on databases that have lists.
    let raiseListed: String

    /// The same raises, which answer names and new values.
    private let answering: (one: String, listed: String)

    private init(
        raise: String,
        names: String,
        selection: @escaping @Sendable (_ names: String) -> String,
        raiseListed: String
    ) {
        (self.raise, self.selection, self.raiseListed) = (raise, selection, raiseListed)
        answering = (raise + " RETURNING " + names, raiseListed + " RETURNING " + names)
    }

    /// Raises so many on databases that have lists, and answers names, new values and these columns.
    func raising(_ count: Int, and columns: String? = nil) -> String {
        let raising = count == 1 ? answering.one : answering.listed
        return columns.map { raising + ", " + $0 } ?? raising
    }

    /// Last numbers of topics that are not deleted.
    ///
    /// Rows are locked in order first, then changed, whatever others have done to them meanwhile; only to have deleted a
    /// topic counts, since what was read of it before was not locked.
    static let numbers = Counters(
        raise: "UPDATE topics SET last_number = last_number + $2 WHERE id = $1 AND coalesce(deleted, 0) = 0",
        names: "id, last_number",
        selection: { "SELECT id, last_number FROM topics WHERE id IN (\($0)) AND coalesce(deleted, 0) = 0" },
        raiseListed: """
            WITH raised AS MATERIALIZED (
                SELECT t.id AS raised_id, n.count AS raised_by FROM topics AS t
                JOIN unnest($1::text[], $2::bigint[]) AS n (id, count) ON n.id = t.id
                WHERE coalesce(t.deleted, 0) = 0 ORDER BY t.id FOR NO KEY UPDATE OF t)
            UPDATE topics SET last_number = last_number + raised_by FROM raised WHERE id = raised_id
            """
    )
    /// Last positions of owners' feeds, which begin with their first message.
    static let positions = Counters(
        raise: """
            INSERT INTO feeds (owner, last_position) VALUES ($1, $2)
            ON CONFLICT (owner) DO UPDATE SET last_position = feeds.last_position + excluded.last_position
            """,
        names: "owner, last_position",
        selection: { "SELECT owner, last_position FROM feeds WHERE owner IN (\($0))" },
        raiseListed: """
            INSERT INTO feeds (owner, last_position)
            SELECT n.owner, n.count FROM unnest($1::text[], $2::bigint[]) AS n (owner, count) ORDER BY n.owner COLLATE "C"
            ON CONFLICT (owner) DO UPDATE SET last_position = feeds.last_position + excluded.last_position
            """
    )
}

extension SQLWriter {
    func takeNumbers(_ counts: [TopicID: Int]) throws(StoreError) -> [TopicID: MessageNumber] {
        let ids = counts.keys.map(\.text).sorted()
        let texts = Dictionary(uniqueKeysWithValues: counts.map { ($0.text, $1) })
        let last = try raise(Counters.numbers, ids, by: texts)
        return Dictionary(
            uniqueKeysWithValues: last.map { (TopicID($0), $1 - Int64(texts[$0] ?? 0) + 1) }
        )
    }

    func takePositions(_ counts: [String: Int]) throws(StoreError) -> [String: FeedPosition] {
        let last = try raise(Counters.positions, counts.keys.sorted(), by: counts)
        guard last.count == counts.count else {
            throw .mismatch(reason: "The feed of an owner has gone inside the transaction that wrote it.")
        }
        return Dictionary(uniqueKeysWithValues: last.map { ($0, $1 - Int64(counts[$0] ?? 0) + 1) })
    }

    func assignNumbers(
        _ positions: [String: Int],
        _ numbers: [TopicID: Int],
        asking questions: PlaceQuestions?
    ) throws(StoreError) -> TakenPlaces {
        guard session.dialect.hasManyWriters else {
            return TakenPlaces(
                firstPositions: positions.isEmpty ? [:] : try takePositions(positions),
                firstNumbers: try takeNumbers(numbers)
            )
        }
        let wanted = WantedPlaces(
            positions: positions,
            numbers: Dictionary(uniqueKeysWithValues: numbers.map { ($0.text, $1) }),
            questions: questions
        )
        if mayExpect, let expected = session.places.expected(wanted), try expect(expected, wanted) { return expected }
        let lasts = session.places.expectedMessages(in: wanted.numbers.keys)
        var answers = try PlaceAnswers(to: wanted, asksMaking: lasts == nil, session)
        try connection.runTogether(answers.statements) { answers.take($1, of: $0) }
        var taken = answers.taken
        if let lasts { taken.latestMaking = try latestMaking(wanted.numbers, lasts, taken.firstNumbers) }
        session.places.note(taken, wanted, leaving: answers.openRuns)
        return taken
    }

    /// Takes the places that are expected without waiting to be told them; false where that cannot be guarded.
    ///
    /// The changes that take them fail, and with them all that is sent behind, where a row is not as it was left: then
    /// nothing of the group is stored, and it is run anew and waits.
    private func expect(_ expected: TakenPlaces, _ wanted: WantedPlaces) throws(StoreError) -> Bool {
        guard connection.isOneSession, wanted.positions.count + wanted.numbers.count <= Self.mostGuarded,
            let raises = guardedRaises(expected, wanted)
        else { return false }
        // Noted first: what fails forgets it.
        session.places.expect(expected, wanted)
        for (sql, bindings) in raises { try connection.queue(sql, bindings) }
        return true
    }

    /// One for each feed and topic, in the order in which their rows are locked; nil where one cannot be guarded.
    private func guardedRaises(
        _ expected: TakenPlaces,
        _ wanted: WantedPlaces
    ) -> [(sql: String, bindings: [SQLValue])]? {
        var raises: [(sql: String, bindings: [SQLValue])] = []
        for (owner, count) in wanted.positions.inOrderOfBytes {
            guard let left = session.places.left(feedOf: owner) else { return nil }
            raises.append((PlaceGuard.raiseFeed, [.text(owner), .int(Int64(count))] + left))
        }
        for (name, count) in wanted.numbers.inOrderOfBytes {
            guard let left = session.places.left(topic: name) else { return nil }
            let bindings = [.text(name), .int(Int64(count))] + left
            if let run = session.places.lengthened(inTopic: name, with: expected, wanted) {
                raises.append((PlaceGuard.raiseTopicInRun, bindings + [.int(run.first)]))
            } else {
                raises.append((PlaceGuard.raiseTopic, bindings))
            }
        }
        return raises
    }

    /// Places of so many owners and topics are expected together at most: each is raised by a statement of its own.
    private static let mostGuarded = 16

    /// When the latest of the messages before these was made, of which some were expected to be the last.
    private func latestMaking(
        _ counts: [String: Int],
        _ expected: [String: (number: MessageNumber, madeAt: Timestamp)],
        _ firstNumbers: [TopicID: MessageNumber]
    ) throws(StoreError) -> Timestamp? {
        var makings: [Timestamp] = []
        var unknown: [String: Int] = [:]
        for (topic, last) in expected {
            guard let first = firstNumbers[TopicID(topic)] else { continue }
            if first == last.number + 1 { makings.append(last.madeAt) } else { unknown[topic] = counts[topic] }
        }
        if !unknown.isEmpty {
            let asking = PlaceAnswers.askingLatestMaking(unknown)
            makings += try connection.all(asking.0, asking.1) { $0.optionalMoment(0) }.compactMap { $0 }
        }
        return makings.max()
    }

    /// Raises counters in this order, each by its count; answers their new values.
    ///
    /// The change comes first: where writes overlap it is what takes the rows' locks, kept until the commit.
    private func raise(
        _ counters: Counters,
        _ names: [String],
        by counts: [String: Int]
    ) throws(StoreError) -> [(name: String, value: Int64)] {
        if session.dialect.hasManyWriters {
            let raising = counters.raising(counts.count)
            return try connection.all(raising, CountLists.bindings(counts)) { ($0.text(0), $0.int(1)) }
        }
        _ = try connection.runEach(counters.raise, rows: names.count) { row, parameters in
            parameters.bind(names[row], at: 1)
            parameters.bind(Int64(counts[names[row]] ?? 0), at: 2)
        }
        var values: [(name: String, value: Int64)] = []
        for chunk in names.chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            values += try connection.all(counters.selection(list.placeholders), list.bindings) {
                ($0.text(0), $0.int(1))
            }
        }
        return values
    }
}

/// What the database is asked where places are taken, and what it has answered.
struct PlaceAnswers {
    let wanted: WantedPlaces
    let statements: [(sql: String, bindings: [SQLValue])]
    private let topics: ModelStatements?
    private let asksMaking: Bool
    private var answered = TakenPlaces()
    /// The runs that topics say are open.
    private(set) var openRuns: [String: OpenNumbers] = [:]
    private var members: FewMembers?

    init(to wanted: WantedPlaces, asksMaking: Bool, _ session: SQLSession) throws(StoreError) {
        let topics = try wanted.questions.map { asked throws(StoreError) in try session.statements(for: asked.topics) }
        let owners = wanted.positions
        var statements = [
            (Counters.positions.raising(owners.count), CountLists.bindings(owners)),
            (Self.raising(wanted.numbers.count, and: topics), CountLists.bindings(wanted.numbers)),
        ]
        if asksMaking { statements.append(Self.askingLatestMaking(wanted.numbers)) }
        members = wanted.questions.map {
            FewMembers(of: Set(wanted.numbers.keys.map { TopicID($0) }), limit: $0.fewMembers)
        }
        statements += members?.questions(session.dialect) ?? []
        (self.wanted, self.statements, self.topics, self.asksMaking) = (wanted, statements, topics, asksMaking)
    }

    /// What all answers say together.
    var taken: TakenPlaces {
        var taken = answered
        taken.deviceless = members?.withoutDevice
        return taken
    }

    /// Takes a row of one of the statements.
    mutating func take(_ row: any SQLRow, of statement: Int) {
        switch statement {
        case 0:
            let owner = row.text(0)
            answered.firstPositions[owner] = row.int(1) - Int64(wanted.positions[owner] ?? 0) + 1
        case 1:
            let name = row.text(0)
            answered.firstNumbers[TopicID(name)] = row.int(1) - Int64(wanted.numbers[name] ?? 0) + 1
            guard let topics else { return }
            answered.topics[TopicID(name)] = topics.record(row, from: 2)
            let run = topics.placeOfRun
            if !row.isNull(run) { openRuns[name] = OpenNumbers(first: row.int(run), last: row.int(run + 1)) }
        case 2 where asksMaking: answered.latestMaking = row.optionalMoment(0)
        default: members?.add(FewMembers.Row(row))
        }
    }

    /// Asks when the messages before the last so many of each topic were made.
    static func askingLatestMaking(_ counts: [String: Int]) -> (String, [SQLValue]) {
        (counts.count == 1 ? SQL.latestMakingOfOne : SQL.latestMaking, CountLists.bindings(counts))
    }

    /// Raises the last numbers of so many topics, and answers them as they are where their statements are given.
    private static func raising(_ count: Int, and topics: ModelStatements?) -> String {
        guard let topics else { return Counters.numbers.raising(count) }
        return count == 1 ? topics.raising.one : topics.raising.some
    }
}

extension [String: Int] {
    /// In the order in which the database locks rows of these names.
    fileprivate var inOrderOfBytes: [(key: String, value: Int)] {
        sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

/// Names and the count of each, as parameters.
private enum CountLists {
    /// A name and its count, or lists of all.
    static func bindings(_ counts: [String: Int]) -> [SQLValue] {
        guard counts.count == 1, let one = counts.first else { return lists(counts).bindings }
        return [.text(one.key), .int(Int64(one.value))]
    }

    /// Names in order, and the count of each.
    static func lists(_ counts: [String: Int]) -> ParameterLists {
        let lists = ParameterLists(count: 2)
        for name in counts.keys.sorted() {
            lists.bind(name, at: 1)
            lists.bind(Int64(counts[name] ?? 0), at: 2)
        }
        return lists
    }
}
