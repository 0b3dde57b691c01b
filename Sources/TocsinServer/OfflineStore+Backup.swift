import TocsinCore
package import TocsinSQLite
import TocsinStore

extension OfflineStore {
    /// Copies the database beside a running server; only SQLite's, for
    /// PostgreSQL has tools of its own.
    package static func backup(
        _ settings: Settings,
        to path: String,
        replaces: Bool,
        isStopped: @escaping @Sendable () -> Bool,
        report: @escaping @Sendable (SQLiteBackup.Progress) -> Void
    ) async throws(StartError) {
        let backup: SQLiteBackup
        switch settings.server.databaseAddress {
        case .sqlite(let source): backup = SQLiteBackup(of: source, to: path, replaces: replaces)
        case .postgres:
            throw StartError(
                "`tocsin backup` copies SQLite's files. Back up PostgreSQL by its own means (pg_dump, pg_basebackup), or use "
                    + "`tocsin export`."
            )
        }
        do {
            try await withThread("backup") { () throws(StoreError) in
                try backup.run(isStopped: isStopped, report: report)
            }
        } catch {
            throw StartError(error == .stopped ? "Stopped; nothing was written to \(path)." : error.description)
        }
    }
}
