import TocsinAuth
import TocsinCore
import TocsinPostgres
import TocsinSQLite
import TocsinStore

/// The way to the data that settings name: what the server and the commands beside it share.
struct DataAccess: Sendable {
    /// The database that the settings name; nothing is opened.
    let database: any SQLDatabase
    private let server: Settings.Server

    /// - Parameter news: Told of connections to a database that other machines run.
    init(_ settings: Settings, news: @escaping @Sendable (ConnectionNews) -> Void = { _ in }) {
        server = settings.server
        switch server.databaseAddress {
        case .sqlite(let path): database = SQLiteDatabase(path: path)
        case .postgres(let url):
            var postgres = PostgresDatabase(url: url.contents)
            postgres.options.preparesStatements = server.databasePrepared
            postgres.news = news
            database = postgres
        }
    }

    /// The server's secret where there is one already; nothing is made.
    func existingServerKey() throws(StartError) -> ServerKey? {
        guard server.serverKey != nil || SystemFile.exists(server.dataDirectory + "/" + ServerKey.fileName) else {
            return nil
        }
        return try serverKey()
    }

    /// Refuses to go on where the database is a file that is not there.
    func requireDatabase() throws(StartError) {
        guard case .sqlite(let path) = server.databaseAddress, !SystemFile.exists(path) else { return }
        guard !SystemFile.isShut(path) else {
            throw StartError(
                "This user may not look into the folder of \(path). Run the command as the server's user, such as: sudo -u tocsin "
                    + "tocsin …"
            )
        }
        throw StartError(
            "There is no database at \(path). Check --data-dir, TOCSIN_DATA_DIR and --database; `tocsin serve` and `tocsin user "
                + "add` make a new one."
        )
    }

    func openStore(
        role: StoreRole,
        migrations: MigrationMode,
        at now: Timestamp,
        journal: Journal?,
        migrationNote: (@Sendable (_ from: Int, _ to: Int) -> AuditEvent)? = nil,
        opening: @escaping @Sendable (OpeningStep) -> Void = { _ in },
        metrics: StoreMetrics? = nil,
        diagnostics: @escaping @Sendable (StoreError) -> Void = { _ in },
        observer: @escaping @Sendable ([DomainEvent]) -> Void = { _ in }
    ) async throws(StartError) -> SQLStore {
        var settings = StoreSettings()
        settings.migrations = migrations
        settings.journal = journal
        settings.opening = opening
        settings.migrationNote = migrationNote
        settings.metrics = metrics
        settings.readerCount = server.databaseReaders
        do {
            return try await SQLStore.open(
                database,
                role: role,
                at: now,
                settings: settings,
                commitObserver: observer,
                diagnostics: diagnostics
            )
        } catch {
            throw StartError(error.description)
        }
    }

    /// The server's secret: the setting, or a file in the data directory, which is made if it is
    /// not there.
    func serverKey() throws(StartError) -> ServerKey {
        if server.serverKey == nil { try makeFolder() }
        do {
            if let text = server.serverKey { return try ServerKey(text: text.contents) }
            return try ServerKey.load(from: server.dataDirectory)
        } catch {
            throw StartError(error.description)
        }
    }

    /// Makes the data directory if it is not there.
    func makeFolder() throws(StartError) {
        let path = server.dataDirectory
        do throws(SystemFile.Failure) {
            try SystemFile.makeFolder(path)
        } catch {
            throw StartError("The data directory \(path) cannot be made: \(error.reason).")
        }
    }
}
