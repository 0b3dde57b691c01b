import CPostgres
import Glibc
package import Metrics
package import TocsinCore
package import TocsinStore

/// A database of a PostgreSQL server, which many nodes may share.
package struct PostgresDatabase: SQLDatabase {
    /// PostgreSQL's.
    package let dialect = Dialect.postgres
    /// How connections behave.
    package var options = PostgresOptions()
    /// Told of lost and regained connections, on any thread; must return at once.
    package var news: @Sendable (ConnectionNews) -> Void = { _ in }
    /// With libpq's connection URL or string, which may hold a password.
    private let hosts: PostgresHosts
    private let state: PostgresState
    private let dependencies: PostgresDependencies
    private static let oldestVersion: Int32 = 130_000

    /// The database at this URL, as libpq reads it.
    package init(url: String, in dependencies: PostgresDependencies = .system) {
        hosts = PostgresHosts(url: url)
        state = PostgresState(now: dependencies.now)
        self.dependencies = dependencies
    }

    /// Why a URL cannot be used, without the URL; nil when it can.
    package static func problem(inURL url: String) -> String? {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(LoadBalance.divide(url).url, &message) else {
            PQfreemem(message)
            return "it is no connection URL that libpq can read"
        }
        PQconninfoFree(options)
        return LoadBalance.problem(url)
    }

    /// Name and version of the server that answered last.
    package var version: String { state.version }

    /// Many nodes may use it.
    package var isShared: Bool { true }

    /// Why no connection can be made; nil while all is well.
    package var trouble: ConnectionTrouble? { state.trouble }

    /// Connections, attempts to make one, and how long answers take.
    package var metrics: (any MetricSource)? { state }

    /// Waits for no answer and no connection beyond this time from now: the server stops, and
    /// a network may be silent.
    package func giveUp(afterSeconds seconds: Int) {
        state.end(at: Deadline(afterMilliseconds: seconds * 1000))
    }

    /// A doorbell that rings by `NOTIFY`.
    package func doorbell(instance: String) -> (any Doorbell)? { PostgresDoorbell(self, instance: instance) }

    /// Opens a connection, unless the last attempt failed so recently that it must wait.
    package func connect(_ use: ConnectionUse) throws(StoreError) -> any SQLConnection {
        try state.checkPause(use)
        do throws(StoreError) {
            let connection = try open(use)
            state.succeeded(use).forEach(news)
            return connection
        } catch {
            state.failed(error).forEach(news)
            throw error
        }
    }

    /// Many servers may run on one database.
    package func claimServer() throws(StoreError) -> (any ServerClaim)? { nil }

    /// A bare connection, without the settings of a session, to the first server that will do;
    /// those that were silent are tried last.
    func link() throws(StoreError) -> PostgresLink {
        let attempts = state.ordered(hosts.attempts(dependencies.randomUnit))
        let deadline = Deadline(afterMilliseconds: options.connectMilliseconds)
        var failures: [String] = []
        for (index, attempt) in attempts.enumerated() {
            let share = Int(deadline.remainingMilliseconds) / (attempts.count - index)
            let limit = Deadline(afterMilliseconds: hosts.limitMilliseconds ?? share)
            do throws(StoreError) {
                let link = try PostgresLink(keywords(attempt), until: limit, state: state)
                state.note(server: attempt.server, isSilent: false)
                return link
            } catch .unavailable(let reason, let detail) where hosts.count > 1 {
                failures.append(detail.isEmpty ? reason : detail)
                state.note(server: attempt.server, isSilent: limit.isOver)
                if limit.isOver, index + 1 < attempts.count { pass(attempt.server) }
            }
        }
        let silent = state.silentCount
        let count = silent == 0 ? "" : ": \(silent) of its \(hosts.count) servers did not answer in time"
        throw .unavailable(reason: "the database cannot be reached" + count, detail: failures.joined(separator: "; "))
    }

    /// Says that a server is silent and that another is tried.
    private func pass(_ server: Int) {
        state.note(trouble: "server \(server + 1) of \(hosts.count) did not answer in time; another is being tried")
        news(.passed(server: server + 1, of: hosts.count))
    }

    private func open(_ use: ConnectionUse, asksOutcomes: Bool = true) throws(StoreError) -> PostgresConnection {
        let link = try link()
        let number = PQserverVersion(link.handle)
        guard number >= Self.oldestVersion else {
            throw .mismatch(
                reason: "The server is PostgreSQL \(number / 10_000); version 13 is the oldest that will do."
            )
        }
        state.note(version: "PostgreSQL \(number / 10_000).\(number % 10_000)")
        let database = self
        let connection = PostgresConnection(link, options: options, use: use) { transaction in
            asksOutcomes ? database.outcome(of: transaction) : .unknown
        } onLoss: { detail in
            database.state.lost(detail)
            database.news(.lost(detail: detail))
        }
        do throws(StoreError) {
            try configure(connection, for: use, mustWrite: use != .reader && asksOutcomes)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// libpq's keywords: what stands before the URL can be said otherwise there,
    /// what stands behind it holds.
    private func keywords(_ attempt: PostgresHosts.Attempt) -> [(name: String, value: String)] {
        [
            ("fallback_application_name", "tocsin"),
            // A dead peer is found within half a minute, whichever side waits.
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "10000"),
            ("dbname", hosts.url),
            ("client_encoding", "UTF8"),
        ] + attempt.keywords
    }
}

extension PostgresDatabase {
    private static let readOnlyDefault = "default_transaction_read_only"
    private static let settings = "SELECT name, setting FROM pg_settings WHERE name = ANY(string_to_array($1, ','))"

    /// Applies the settings and reads them back.
    private func configure(
        _ connection: PostgresConnection,
        for use: ConnectionUse,
        mustWrite: Bool
    ) throws(StoreError) {
        let limits = options.limits(for: use)
        var expected = [
            ("server_encoding", "UTF8"), ("client_encoding", "UTF8"), ("standard_conforming_strings", "on"),
        ]
        if options.preparesStatements {
            let values = limits.settings.flatMap { [SQLValue.text($0.name), .text($0.value)] }
            try connection.run(limits.sessionStatement, values)
            expected += limits.settings.map { ($0.name, $0.value) }
        }
        let names = (expected.map(\.0) + [Self.readOnlyDefault]).joined(separator: ",")
        let found = try connection.all(Self.settings, [.text(names)]) { ($0.text(0), $0.text(1)) }
        let actual = Dictionary(found, uniquingKeysWith: { first, _ in first })
        for (name, value) in expected where actual[name] != value {
            throw .mismatch(
                reason: "PostgreSQL keeps \(name) at \(actual[name] ?? "nothing") where \(value) is needed. "
                    + (name == "server_encoding" ? "Make the database with ENCODING 'UTF8'." : "Look at its settings.")
            )
        }
        if use != .reader {
            connection.timeline = try timeline(connection)
            if options.preparesStatements {
                connection.session = try connection.first(Self.ownSession) { $0.text(0) } ?? ""
            }
        }
        guard mustWrite, actual[Self.readOnlyDefault] == "on" else { return }
        throw .unavailable(
            reason: PostgresFailure.readOnly,
            detail: "\(Self.readOnlyDefault) is on, for the server, this database, its user or in the URL"
        )
    }

    /// A session's process and its start: a process' number is used again.
    private static let sessionName = "pid::text || ' ' || extract(epoch FROM backend_start)::text"
    private static let ownSession = "SELECT \(sessionName) FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    /// Ends a session, and answers a row while it is there.
    ///
    /// One that waits for a synchronous standby is let wait: ended, it would show others what
    /// the standby has not got.
    private static let endSession = """
        SELECT CASE WHEN wait_event = 'SyncRep' THEN 0 WHEN pg_terminate_backend(pid) THEN 1 ELSE 0 END
        FROM pg_stat_activity WHERE \(sessionName) = $1 AND pid <> pg_backend_pid()
        """

    private static let timeline = """
        SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END
        """

    /// The history that the server writes; a standby, which writes none, is refused: after a
    /// failover the URL may lead elsewhere.
    private func timeline(_ connection: PostgresConnection) throws(StoreError) -> String {
        let timeline = try connection.first(Self.timeline) { $0.text(0) } ?? ""
        guard timeline.isEmpty else { return timeline }
        throw .unavailable(
            reason: PostgresFailure.readOnly,
            detail: "the server is a standby; name all servers in the URL, with target_session_attrs=read-write"
        )
    }
}

extension PostgresDatabase {
    /// What became of a transaction, asked over new connections until the time for that is over.
    private func outcome(of transaction: TransactionMark) -> TransactionOutcome {
        let deadline = Deadline(afterMilliseconds: options.outcomeMilliseconds)
        while !deadline.earlier(state.end).isOver {
            if let outcome = try? askedOutcome(of: transaction) { return outcome }
            poll(nil, 0, min(200, max(1, deadline.remainingMilliseconds)))
        }
        return .unknown
    }

    /// A number that was not given yet was lost in a crash: the asking transaction's own, taken
    /// first, is above all given.
    private static let status = """
        SELECT CASE WHEN $1::text::xid8 >= own.id THEN 'lost' ELSE pg_xact_status($1::text::xid8) END
        FROM (SELECT pg_current_xact_id() AS id OFFSET 0) AS own
        """

    /// nil while the transaction is in progress: its session has not noticed
    /// yet that nobody listens.
    ///
    /// A server that crashed gives the numbers of lost transactions again. So "committed" may be
    /// about somebody else's commit, and only what this transaction wrote tells. That is looked for
    /// once its number is no longer in progress, by a statement of its own, which sees all that was
    /// committed until then. A transaction that wrote nothing to tell it by has an unknown outcome.
    ///
    /// A transaction that was sent as a whole may have lost its number with its answers. Then what
    /// it wrote is looked for. If it is not there, its session, which nobody uses any more, is
    /// ended, and it is looked for once more.
    ///
    /// What is committed may not have reached a synchronous standby: its session had not waited
    /// to the end. So a commit follows it, which does wait, and what goes before that in the
    /// server's log is there too.
    package func askedOutcome(of transaction: TransactionMark) throws(StoreError) -> TransactionOutcome? {
        let connection = try open(.tool, asksOutcomes: false)
        defer { connection.close() }
        guard connection.timeline == transaction.timeline else { return .unknown }
        if let id = transaction.id {
            switch try connection.first(Self.status, [.text(id)], { $0.text(0) }) {
            case "committed": break
            case "aborted", "lost": return .aborted
            case "in progress": return nil
            default: return .unknown
            }
        }
        guard let proof = transaction.proof else { return .unknown }
        let bindings = proof.bindings + [.text(transaction.range.least), .text(transaction.range.greatest)]
        func isProven() throws(StoreError) -> Bool { try connection.first(proof.sql, bindings) { _ in true } ?? false }
        if try !isProven() {
            guard transaction.id == nil else { return .aborted }
            let isThere = try connection.first(Self.endSession, [.text(transaction.session)]) { _ in true } ?? false
            if isThere { return nil }
            // What it had committed meanwhile is seen, and there will be no more.
            guard try isProven() else { return .aborted }
        }
        try connection.run("BEGIN")
        try connection.run("SELECT 1 FROM pg_logical_emit_message(true, 'tocsin', '')")
        try connection.run("COMMIT")
        return .committed
    }
}

/// What connections need of the world besides a server.
package struct PostgresDependencies: Sendable {
    /// A clock that only goes forward, for pauses between attempts and for how long a
    /// silent server is remembered.
    package var now: @Sendable () -> ContinuousClock.Instant
    /// A number in 0..<1, for the order of servers that a URL wants to be random.
    package var randomUnit: @Sendable () -> Double

    /// The clock and random numbers that a test sets.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        randomUnit: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.randomUnit = randomUnit
    }

    /// Those of this machine: what blocks on a network has no other.
    package static let system = PostgresDependencies(now: { .now }, randomUnit: { .random(in: 0..<1) })
}
