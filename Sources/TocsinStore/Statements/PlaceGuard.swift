import TocsinCore

/// Statements that fail where a row is not what was expected of it, so that nothing sent behind them happens.
///
/// They are for PostgreSQL, and are sent when the row is locked, by the change that they look at.
enum PlaceGuard {
    /// Of an owner's feed, `$1`, whose last position is to be `$2`.
    static let feed = text("EXISTS (SELECT 1 FROM feeds WHERE owner = $1 AND last_position = $2)")

    /// Of a topic, `$1`, whose last number is to be `$2`, whose members, fewer than `$4`, these who have no device, `$3`, unless
    /// that is null, and which is to hold `$5` beside its columns, and in these the values from `$6` on.
    static func topic(_ columns: [String]) -> String {
        let expected = columns.indices.map { "$\($0 + 6)" }.joined(separator: ", ")
        return text(
            """
            EXISTS (SELECT 1 FROM topics WHERE id = $1 AND last_number = $2 AND coalesce(deleted, 0) = 0
                AND extra = $5::text::jsonb AND ROW(\(columns.joined(separator: ", "))) IS NOT DISTINCT FROM ROW(\(expected)))
            AND ($3::text[] IS NULL OR $3::text[] = ARRAY(
                SELECT CASE WHEN EXISTS (SELECT 1 FROM devices AS d WHERE d.user_id = m.user_id AND d.active = 1)
                    THEN NULL ELSE m.user_id END
                FROM memberships AS m WHERE m.topic_id = $1 ORDER BY m.user_id LIMIT $4))
            """
        )
    }

    /// The members as a guard's parameter.
    static func list(_ users: [UserID]?) -> SQLValue {
        guard let users else { return .null }
        let list = ParameterLists(count: 1)
        for user in users { list.bind(user.text, at: 1) }
        return list.bindings[0]
    }

    /// What the server's log quotes of a guard that failed.
    private static let failure = "another writer came between"

    /// The text that is no number is of no use before the condition is known, so that it does not fail earlier.
    private static func text(_ condition: String) -> String {
        "SELECT (CASE WHEN \(condition) THEN '1' ELSE '\(failure)' END)::int"
    }
}
