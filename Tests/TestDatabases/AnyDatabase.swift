import Foundation
import TocsinCore
package import TocsinSQLite
package import TocsinStore

/// The database for suites that run on one at a time: SQLite, or PostgreSQL where
/// `TOCSIN_TEST_DATABASE=postgres` says so.
package enum AnyDatabase {
    package static let variable = "TOCSIN_TEST_DATABASE"

    package static var isPostgres: Bool { getenv(variable).map { String(cString: $0) } == "postgres" }

    /// A database of its own without a row; it has its tables.
    package static func make() throws -> any SQLDatabase {
        try makePostgres() ?? makeSQLite()
    }

    /// A SQLite file without a row; it has its tables.
    ///
    /// The folder that it is in is in `parent`, else in memory.
    package static func makeSQLite(in parent: String? = nil) throws -> SQLiteDatabase {
        let database = try SQLiteDatabase.temporary(in: parent)
        try CurrentFile.content.get().write(to: URL(filePath: database.path))
        return database
    }

    /// A database of PostgreSQL's without a row, if the suites run on that; it has its tables.
    package static func makePostgres() throws -> TemporaryDatabase? {
        guard isPostgres else { return nil }
        guard let server = PostgresServer.named else {
            throw MissingServer()
        }
        return try server.makeCurrentDatabase()
    }

    private struct MissingServer: Error, CustomStringConvertible {
        let description = "\(variable) is postgres, so \(PostgresServer.variable) must name a server."
    }
}

/// A SQLite file with this release's tables, which is migrated once.
private enum CurrentFile {
    static let content = Result {
        let database = try SQLiteDatabase.temporary()
        let connection = try database.connect(.tool)
        do {
            // Closing moves the log into the file.
            defer { connection.close() }
            let migrations = try Migration.embedded(for: .sqlite)
            try Migrator(connection: connection, dialect: .sqlite, migrations: migrations)
                .migrate(at: Timestamp(milliseconds: 0))
        }
        return try Data(contentsOf: URL(filePath: database.path))
    }
}
