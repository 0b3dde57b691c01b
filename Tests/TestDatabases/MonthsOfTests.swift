import Glibc
package import TocsinCore
package import TocsinStore

/// Databases of PostgreSQL in which messages stand in months, for all suites: what works on one table is to work there.
///
/// Ids of tests are mostly names and numbers, not time; so the rest is divided too, and hardly two messages of a test stand
/// together.
package enum MonthsOfTests {
    package static let variable = "TOCSIN_TEST_MONTHS"

    package static let areAsked = getenv(variable).map { String(cString: $0) } == "1"

    private static let cuts = ["1", "a", "b", "m", "m3"]

    /// Makes the tables in an empty database.
    package static func make(in database: any SQLDatabase) throws(StoreError) {
        let connection = try database.connect(.writer)
        defer { connection.close() }
        let migrations = try Migration.embedded(for: database.dialect)
        let migrator = Migrator(connection: connection, dialect: database.dialect, migrations: migrations)
        try migrator.migrate(at: Timestamp(milliseconds: 0))
        try connection.run("BEGIN")
        // So long ago that what is made now stands in a month.
        let moment = Timestamp(milliseconds: Int64(time(nil)) * 1000).adding(seconds: -40 * 86_400)
        _ = try MonthConversion(connection, database.dialect).run(at: moment)
        for (number, cut) in zip(cuts, cuts.dropFirst()).enumerated() {
            try connection.run("CREATE TABLE messages_cut\(number) (LIKE messages_rest INCLUDING ALL)")
            let range = "FROM ('\(cut.0)') TO ('\(cut.1)')"
            try connection.run("ALTER TABLE messages ATTACH PARTITION messages_cut\(number) FOR VALUES \(range)")
        }
        try connection.run("COMMIT")
    }
}
