import TocsinCore

/// Statements that take places nobody has been told of yet, and fail where a row is not as it was left, so that nothing sent
/// behind them happens.
///
/// They are for PostgreSQL, whose rows say which transaction wrote them (`xmin`, the low half of its number): a row that says
/// it was the last one here is as that one left it. So says one, too, that was changed twice in one transaction: a transaction
/// that changes a topic otherwise leaves nothing to expect of it (`PlaceMemory.change`).
///
/// A change that waits for its row goes on with what it had read of others before, unless the row itself was changed
/// meanwhile. So members, who join under the topic's lock and leave its row as it is, are looked for behind the changes.
enum PlaceGuard {
    /// Raises the last position of an owner, `$1`, by `$2`, if transaction `$3` has left it as it is, which is at `$4`.
    static let raiseFeed = """
        UPDATE feeds SET last_position = \(raised("last_position")) WHERE owner = $1
        """

    /// Raises the last number of a topic, `$1`, by `$2`, if transaction `$3` has left it as it is, which is at `$4`.
    static let raiseTopic = "UPDATE topics SET last_number = \(raised("last_number")) WHERE id = $1"

    /// The same where the messages are in the run that begins at `$5`, which the topic then says is as long.
    static let raiseTopicInRun = """
        UPDATE topics SET last_number = \(raised("last_number")), run_first = $5, run_last = last_number + $2
        WHERE id = $1
        """

    private static func raised(_ counter: String) -> String {
        guarded("\(counter) + $2", if: "xmin = $3::text::xid8::xid AND \(counter) = $4")
    }

    /// A whole number, if the transaction has taken places in so many topics and feeds as was expected (`bindings`, whose
    /// first parameter this is).
    ///
    /// It has written their rows: one that is gone is raised without a failure. And the topics' members are those who have no
    /// device, where that was expected. Each parameter is one name, since of lists to look for PostgreSQL thinks too highly to
    /// keep a plan.
    static func number(_ number: String, ifTaken topics: Int, feeds: Int, firstParameter: Int) -> String {
        let most = firstParameter + 2 * topics + feeds
        var conditions: [String] = []
        for place in 0..<topics {
            let name = firstParameter + 2 * place
            conditions.append(isWritten("topics WHERE id = $\(name)"))
            conditions.append(areDeviceless(members: name + 1, ofTopic: name, most: most))
        }
        for name in firstParameter + 2 * topics..<most { conditions.append(isWritten("feeds WHERE owner = $\(name)")) }
        return guarded(number, if: conditions.joined(separator: " AND "))
    }

    /// What `number` looks at.
    static func bindings(of expected: ExpectedPlaces) -> [SQLValue] {
        var bindings: [SQLValue] = []
        for name in expected.wanted.numbers.keys {
            bindings += [.text(name), list(expected.places.deviceless?[TopicID(name)])]
        }
        for owner in expected.wanted.positions.keys { bindings.append(.text(owner)) }
        return bindings + [.int(Int64((expected.wanted.questions?.fewMembers ?? 0) + 1))]
    }

    /// Users as a parameter.
    private static func list(_ users: [UserID]?) -> SQLValue {
        guard let users else { return .null }
        let list = ParameterLists(count: 1)
        for user in users { list.bind(user.text, at: 1) }
        return list.bindings[0]
    }

    private static func isWritten(_ row: String) -> String {
        "(SELECT xmin FROM \(row)) = pg_current_xact_id()::xid"
    }

    /// Whether the members of a topic, fewer than `most`, are these who have no device; also where these are null.
    private static func areDeviceless(members: Int, ofTopic topic: Int, most: Int) -> String {
        """
        ($\(members)::text[] IS NULL OR $\(members)::text[] = ARRAY(
            SELECT CASE WHEN EXISTS (SELECT 1 FROM devices AS d WHERE d.user_id = m.user_id AND d.active = 1)
                THEN NULL ELSE m.user_id END
            FROM memberships AS m WHERE m.topic_id = $\(topic) ORDER BY m.user_id LIMIT $\(most)))
        """
    }

    /// What the server's log quotes of a guard that failed.
    private static let failure = "another writer came between"

    /// The text that is no number is of no use before the condition is known, so that it does not fail earlier.
    private static func guarded(_ number: String, if condition: String) -> String {
        "(CASE WHEN \(condition) THEN (\(number))::text ELSE '\(failure)' END)::bigint"
    }
}
