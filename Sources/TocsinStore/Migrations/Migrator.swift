package import TocsinCore

/// Brings a database to the level of this program, or says why not.
package struct Migrator {
    private let connection: any SQLConnection
    private let dialect: Dialect
    private let migrations: [Migration]

    /// A migrator over a connection that may write; `migrations` are in order of number.
    package init(connection: any SQLConnection, dialect: Dialect, migrations: [Migration]) {
        self.connection = connection
        self.dialect = dialect
        self.migrations = migrations
    }

    private struct Applied {
        var number: Int
        var name: String
        var checksum: String
        var moment: Timestamp
        var isAdditive: Bool
    }

    /// Applies what is pending, all in one transaction; refuses a database that
    /// this program does not fit.
    ///
    /// `note` makes what the audit says of it; a database that is made says nothing. `step` is told
    /// how far it has come.
    package func migrate(
        at now: Timestamp,
        note: ((_ from: Int, _ to: Int) -> AuditEvent)? = nil,
        step: (OpeningStep) -> Void = { _ in }
    ) throws(StoreError) {
        step(.waitingForLock)
        try connection.run(dialect.beginWriting())
        do throws(StoreError) {
            for lock in dialect.tableLock { try connection.run(lock) }
            try createTable()
            let pending = try pending()
            for (done, migration) in pending.enumerated() {
                step(
                    .migrating(
                        number: migration.number,
                        of: migrations.count,
                        name: migration.name,
                        percent: 100 * done / pending.count
                    )
                )
                try connection.execute(script: migration.text)
                try connection.run(
                    "INSERT INTO migrations (number, name, checksum, applied_at, additive) VALUES ($1, $2, $3, $4, $5)",
                    [
                        .int(Int64(migration.number)), .text(migration.name), .text(migration.checksum), SQLValue(now),
                        SQLValue(migration.isAdditive),
                    ]
                )
            }
            if let note, let first = pending.first?.number, first > 1 {
                try SQLWriter(session: SQLSession(connection: connection, dialect: dialect))
                    .record(note(first - 1, migrations.count))
            }
            try connection.run("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.run("ROLLBACK") }
            throw error
        }
    }

    /// Refuses a database that lacks migrations, or that this program does not fit.
    package func requireCurrent() throws(StoreError) {
        let missing = try hasTable() ? try pending() : migrations
        guard missing.isEmpty else {
            let names = missing.map(\.name).joined(separator: ", ")
            throw .mismatch(
                reason: "The database lacks migrations: \(names). Run `tocsin migrate`, or start the server with "
                    + "migrations switched on."
            )
        }
    }

    /// All known migrations, by number.
    package func status() throws(StoreError) -> [MigrationStatus] {
        let applied = try hasTable() ? try self.applied() : []
        let moments = Dictionary(applied.map { ($0.number, $0.moment) }, uniquingKeysWith: { first, _ in first })
        let unknown = applied.filter { $0.number > migrations.count }
        return migrations.map {
            MigrationStatus(
                number: $0.number,
                name: $0.name,
                appliedAt: moments[$0.number],
                isAdditive: $0.isAdditive
            )
        } + unknown.map { MigrationStatus(number: $0.number, name: $0.name, appliedAt: $0.moment) }
    }

    private func createTable() throws(StoreError) {
        guard try !hasTable() else { return }
        try connection.run(
            """
            CREATE TABLE migrations (
                number BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL,
                additive BIGINT NOT NULL
            )
            """
        )
    }

    private func hasTable() throws(StoreError) -> Bool {
        try connection.first(dialect.migrationsTable) { _ in true } ?? false
    }

    private func applied() throws(StoreError) -> [Applied] {
        try connection.all("SELECT number, name, checksum, applied_at, additive FROM migrations ORDER BY number") {
            row in
            Applied(
                number: Int(row.int(0)),
                name: row.text(1),
                checksum: row.text(2),
                moment: row.moment(3),
                isAdditive: row.int(4) != 0
            )
        }
    }

    /// What is not applied yet, after checking what is.
    private func pending() throws(StoreError) -> [Migration] {
        let applied = try applied()
        if let parts = dialect.partedMessages, try connection.first(parts, [], { _ in true }) != nil {
            throw .mismatch(
                reason:
                    "The table messages stands in parts by month, as `tocsin migrate --messages-by-month` of an earlier "
                    + "version made it; this version keeps messages in one table. Export the data with that version "
                    + "(`tocsin export`), and import it into an empty database with this one (`tocsin import`)."
            )
        }
        // A node of the next version may have begun an upgrade; what it only added
        // does not hinder this one.
        let newer = applied.filter { $0.number > migrations.count }
        if let breaking = newer.last(where: { !$0.isAdditive }) {
            throw .mismatch(
                reason:
                    "The database has migration \(breaking.name), but this program knows only \(migrations.count). It was "
                    + "used by a newer version: run that version, or restore the backup made before the upgrade."
            )
        }
        for (index, entry) in applied.dropLast(newer.count).enumerated() {
            let known = migrations[index]
            guard entry.number == known.number else {
                throw .mismatch(
                    reason:
                        "Migration \(known.name) was never applied though \(entry.name) was. Restore the database from "
                        + "a backup."
                )
            }
            guard entry.checksum == known.checksum else {
                throw .mismatch(
                    reason:
                        "Migration \(known.name) was changed after it was applied (checksum differs). Restore the file, "
                        + "or add a new migration."
                )
            }
        }
        return Array(migrations.dropFirst(applied.count))
    }
}
