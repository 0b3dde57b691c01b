import TocsinCore

/// Statements that take places nobody has been told of yet, and fail where a row is not as it was left, so that nothing sent
/// behind them happens.
///
/// They are for PostgreSQL, whose rows say which transaction wrote them (`xmin`, the low half of its number): a row that says
/// it was the last one here is as that one left it. So says one, too, that was changed twice in one transaction: a transaction
/// that changes a topic otherwise leaves nothing to expect of it (`PlaceMemory.change`).
enum PlaceGuard {
    /// Raises the last position of an owner, `$1`, by `$2`, if transaction `$3` has left it as it is.
    static let raiseFeed = """
        UPDATE feeds SET last_position = \(guarded("last_position + $2", if: isLeft)) WHERE owner = $1
        """

    /// Raises the last number of a topic, `$1`, by `$2`, if transaction `$3` has left it as it is, and its members, fewer than
    /// `$5`, are these who have no device, `$4`, unless that is null.
    static let raiseTopic = raiseTopic(and: "")

    /// The same where the messages are in the run that begins at `$6`, which says so itself up to where it was stored.
    static let raiseTopicInRun = raiseTopic(and: ", run_first = $6, run_last = last_number + $2")

    private static func raiseTopic(and changes: String) -> String {
        let number = guarded("last_number + $2", if: isLeft + " AND " + areDeviceless)
        return "UPDATE topics SET last_number = \(number)\(changes) WHERE id = $1"
    }

    /// A whole number, if the transaction has written the rows of so many topics and feeds, which the parameters from this
    /// one on name (`names`): one that is gone is raised without a failure.
    ///
    /// Each parameter is one name, since of lists PostgreSQL thinks too highly to keep a plan.
    static func number(_ number: String, ifTaken topics: Int, feeds: Int, firstParameter: Int) -> String {
        let conditions = (0..<topics + feeds).map { place in
            let row = place < topics ? "topics WHERE id" : "feeds WHERE owner"
            return "(SELECT xmin FROM \(row) = $\(firstParameter + place)) = pg_current_xact_id()::xid"
        }
        return guarded(number, if: conditions.joined(separator: " AND "))
    }

    /// The topics and feeds that `number` looks at.
    static func names(of wanted: WantedPlaces) -> [SQLValue] {
        wanted.numbers.keys.map { .text($0) } + wanted.positions.keys.map { .text($0) }
    }

    /// Users as a parameter.
    static func list(_ users: [UserID]?) -> SQLValue {
        guard let users else { return .null }
        let list = ParameterLists(count: 1)
        for user in users { list.bind(user.text, at: 1) }
        return list.bindings[0]
    }

    private static let isLeft = "xmin = $3::text::xid8::xid"
    private static let areDeviceless = """
        ($4::text[] IS NULL OR $4::text[] = ARRAY(
            SELECT CASE WHEN EXISTS (SELECT 1 FROM devices AS d WHERE d.user_id = m.user_id AND d.active = 1)
                THEN NULL ELSE m.user_id END
            FROM memberships AS m WHERE m.topic_id = $1 ORDER BY m.user_id LIMIT $5))
        """

    /// What the server's log quotes of a guard that failed.
    private static let failure = "another writer came between"

    /// The text that is no number is of no use before the condition is known, so that it does not fail earlier.
    private static func guarded(_ number: String, if condition: String) -> String {
        "(CASE WHEN \(condition) THEN (\(number))::text ELSE '\(failure)' END)::bigint"
    }
}
