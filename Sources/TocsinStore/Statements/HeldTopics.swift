import TocsinCore

/// Statements on topics of one model that are held under their locks, and on those that are expected to be as they were
/// then.
///
/// A topic is known again by a digest of its values, and by its members where they are few and none has a device. Both are
/// held against the row while it is locked, together with the time of its last message: so what rests on a topic that was
/// looked at earlier happens only if the same look now would say the same.
struct ExpectedTopics {
    /// Selects id, values, mark and the time of the last message of topics behind `WHERE id IN`.
    let look: String
    private let raiseOne: String
    private let raiseSome: String

    init(_ statements: ModelStatements) {
        let mark = "encode(sha256(convert_to(ROW(\(statements.columns))::text, 'UTF8')), 'hex')"
        // One writer needs no marks, and its clock makes all messages in order.
        let marks = statements.dialect.hasManyWriters ? "\(mark), \(Self.lastMaking)" : "NULL, NULL"
        look = "SELECT id, \(statements.columns), \(marks) FROM topics AS t WHERE id IN"
        raiseOne = Self.raise("$2", if: Self.condition(mark, is: "$3", "$4", before: "$5"), "WHERE t.id = $1")
        raiseSome = Self.raise(
            "raised_by",
            if: Self.condition(mark, is: "expected_mark", "expected_members", before: "$5"),
            """
            FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
                AS n (raised_id, raised_by, expected_mark, expected_members)
            WHERE t.id = raised_id
            """
        )
    }

    /// Raises the last numbers of topics by their counts, if all is as expected; answers their ids and new numbers.
    func raising(_ counts: [String: Int], _ expectation: TopicExpectation) -> (sql: String, bindings: [SQLValue]) {
        let now = SQLValue(expectation.madeBy)
        if counts.count == 1, let (id, count) = counts.first {
            let topic = expectation.topics[id]
            return (raiseOne, [.text(id), .int(Int64(count)), SQLValue(topic?.mark), Self.members(topic), now])
        }
        var lists = (0..<4).map { _ in ParameterList() }
        for (id, count) in counts {
            let topic = expectation.topics[id]
            let values = [.text(id), .int(Int64(count)), SQLValue(topic?.mark), Self.members(topic)]
            for (place, value) in values.enumerated() { lists[place].add(value) }
        }
        return (raiseSome, lists.map { .text(String(decoding: $0.ended(), as: UTF8.self)) } + [now])
    }

    /// The members without a device, who are few, as the text of a list; null where nothing is expected of them.
    private static func members(_ topic: HeldTopic?) -> SQLValue {
        guard let members = topic?.membersWithoutDevice else { return .null }
        var list = ParameterList()
        for member in members { list.add(.text(member.text)) }
        return .text(String(decoding: list.ended(), as: UTF8.self))
    }

    // MARK: Text

    /// By number, of which there is an index: a plan from when there was no message might go through all of the topic.
    private static let lastMaking = """
        (SELECT m.made_at FROM messages AS m WHERE m.topic_id = t.id AND m.number <= t.last_number
            ORDER BY m.number DESC NULLS LAST LIMIT 1)
        """

    private static func condition(
        _ mark: String,
        is expected: String,
        _ members: String,
        before now: String
    ) -> String {
        """
        \(mark) = \(expected) AND coalesce(\(lastMaking), 0) <= \(now) AND (\(members)::text[] IS NULL OR \(members)::text[] =
            ARRAY(SELECT CASE WHEN EXISTS (SELECT 1 FROM devices AS d WHERE d.user_id = m.user_id AND d.active = 1)
                    THEN NULL ELSE m.user_id END
                FROM memberships AS m WHERE m.topic_id = t.id ORDER BY m.user_id LIMIT \(HeldTopic.fewMembers + 1)))
        """
    }

    /// Fails where the condition does not hold: a text that is no number is made one, and the server's log quotes it.
    private static func raise(_ count: String, if condition: String, _ source: String) -> String {
        """
        UPDATE topics AS t SET last_number = (CASE WHEN \(condition) THEN (last_number + \(count))::text
            ELSE 'a topic was changed meanwhile' END)::bigint
        \(source) RETURNING t.id, t.last_number
        """
    }
}

extension SQLWriter {
    func hold(
        _ topics: [TopicID],
        of model: ModelType,
        feedsOf owners: [String]
    ) throws(StoreError) -> HeldTopics {
        if session.dialect.hasManyWriters {
            try raiseFeeds(Dictionary(uniqueKeysWithValues: owners.map { ($0, 0) })) { _, _ in }
            try lockTopics(topics.map(\.text))
        }
        let statements = try session.statements(for: model)
        let ids = BoundList(topics.map(\.text))
        let look = (statements.expectingTopics.look + " (\(ids.placeholders))", ids.bindings)
        var members = FewMembers(of: Set(topics), limit: HeldTopic.fewMembers)
        var held = HeldTopics()
        try connection.runTogether([look] + members.questions(session.dialect)) { statement, row in
            if statement > 0 { return members.add(FewMembers.Row(row)) }
            let mark = statements.model.fields.count + 1
            held.topics[TopicID(row.text(0))] = HeldTopic(
                record: statements.record(row, from: 1),
                mark: row.optionalText(mark)
            )
            guard let making = row.optionalMoment(mark + 1) else { return }
            held.latestMaking = max(held.latestMaking ?? making, making)
        }
        for (id, users) in members.withoutDevice { held.topics[id]?.membersWithoutDevice = users }
        return held
    }
}
