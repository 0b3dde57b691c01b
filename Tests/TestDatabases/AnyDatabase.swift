import Glibc
import TocsinSQLite
package import TocsinStore

/// The database for suites that run on one at a time: SQLite, or PostgreSQL where
/// `TOCSIN_TEST_DATABASE=postgres` says so.
package enum AnyDatabase {
    package static let variable = "TOCSIN_TEST_DATABASE"

    package static var isPostgres: Bool { getenv(variable).map { String(cString: $0) } == "postgres" }

    /// A database of its own without a row.
    package static func make() throws -> any SQLDatabase {
        try makePostgres() ?? SQLiteDatabase.temporary()
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
