import TocsinStore

/// How connections to a PostgreSQL server behave; the URL says where it is and how to get there.
package struct PostgresOptions: Sendable, Hashable {
    /// Whether statements are prepared and session settings made once.
    ///
    /// False behind a pooler in transaction mode (PgBouncer): there one session's statements meet
    /// another's connections, so each transaction brings its own settings.
    package var preparesStatements = true
    /// How long connecting may take.
    package var connectMilliseconds = 5000
    /// How long a statement of a reader may run: filters of clients can make it walk a whole table.
    package var readLimitMilliseconds = 5000
    /// How long a statement of a writer may run.
    package var writeLimitMilliseconds = 8000
    /// How long a statement may wait for a lock.
    package var lockLimitMilliseconds = 5000
    /// How long a statement of the server's writer may wait for a lock.
    ///
    /// A write may wait this long in the group before its own and again in its own group, and
    /// clients wait 5 seconds for an answer. It is more than the second after which PostgreSQL
    /// looks for deadlocks.
    package var writerLockLimitMilliseconds = 2000
    /// How long a transaction may do nothing before the server ends it.
    package var idleLimitMilliseconds = 15_000
    /// How long what became of a commit whose answer was lost is asked for.
    package var outcomeMilliseconds = 6000

    /// The documented defaults.
    package init() {}
}

extension PostgresOptions {
    /// The settings of a session, or of each transaction.
    struct Limits {
        let settings: [(name: String, value: String)]
        let isWriting: Bool
        /// How long the server may take for an answer; beyond its own limit it is
        /// asked to stop, then given up.
        let answerMilliseconds: Int

        /// Applies them, `$1` and `$2` being the first name and value, for one transaction.
        var localStatement: String { statement(isLocal: true) }

        /// Applies them to the session.
        var sessionStatement: String { statement(isLocal: false) }

        private func statement(isLocal: Bool) -> String {
            let calls = settings.indices.map { "set_config($\($0 * 2 + 1), $\($0 * 2 + 2), \(isLocal))" }
            return "SELECT " + calls.joined(separator: ", ")
        }
    }

    func limits(for use: ConnectionUse) -> Limits {
        let statementLimit = use == .reader ? readLimitMilliseconds : writeLimitMilliseconds
        var settings = [
            ("statement_timeout", "\(statementLimit)"),
            ("lock_timeout", "\(use == .writer ? writerLockLimitMilliseconds : lockLimitMilliseconds)"),
            ("idle_in_transaction_session_timeout", "\(idleLimitMilliseconds)"),
        ]
        settings += Self.planning
        // A pooler's connection serves readers and writers. Whether writers may write
        // is the operator's to say.
        if preparesStatements, use == .reader { settings.append(("default_transaction_read_only", "on")) }
        if use != .reader { settings.append(("synchronous_commit", "on")) }
        return Limits(
            settings: settings,
            isWriting: use != .reader,
            answerMilliseconds: statementLimit + 3000
        )
    }

    /// Each statement finds its rows by an index, and looks them up one by one.
    ///
    /// The plan of a prepared statement is kept. A plan made while a table was small would read it
    /// from end to end, however large it has grown, until the server's own upkeep looks at the
    /// table again. Forbidden plans count as endlessly expensive, for which the server would try
    /// compiling (`jit`).
    private static let planning = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"].map { ($0, "off") }
}
