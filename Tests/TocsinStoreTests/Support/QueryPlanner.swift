import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinSQLite
import TocsinStore

/// What says how a database goes about a query.
enum QueryPlanner: Sendable, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres

    /// Those whose database is here.
    static var available: [QueryPlanner] { PostgresServer.named == nil ? [.sqlite] : allCases }

    var testDescription: String {
        switch self {
        case .sqlite: "SQLite"
        case .postgres: "PostgreSQL"
        }
    }

    /// An empty database; where it does not sort, PostgreSQL walks an index in order even if few
    /// rows were sorted sooner.
    func make(sorts: Bool) throws -> any SQLDatabase {
        switch self {
        case .sqlite: return try SQLiteDatabase.temporary()
        case .postgres:
            // Tables of few rows are read whole unless that is made dear: then only
            // what no index serves is.
            let dear = ["seqscan", "bitmapscan"] + (sorts ? [] : ["sort"])
            let options = dear.map { "-c%20enable_\($0)%3Doff" }.joined(separator: "%20")
            return try #require(PostgresServer.named).makeDatabase(options: options)
        }
    }

    /// Gives PostgreSQL something to count: it plans by what it knows of the rows.
    func fill(_ database: any SQLDatabase, _ models: TestModels) async throws {
        guard self == .postgres else { return }
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.insert((0..<300).map { models.topic("t\($0)", owner: "u::\($0 % 30)") })
        try await store.insert((0..<600).map { models.message("m\($0)", topic: "t\($0 % 30)", number: Int64($0 / 30)) })
        await store.close()
        let connection = try database.connect(.tool)
        defer { connection.close() }
        try connection.run("ANALYZE")
    }

    /// The steps of a statement's plan, in order.
    func steps(
        of sql: String,
        _ bindings: [SQLValue],
        _ connection: any SQLConnection
    ) throws(StoreError) -> [String] {
        switch self {
        case .sqlite: try connection.all("EXPLAIN QUERY PLAN " + sql, bindings) { $0.text(3) }
        case .postgres: try connection.all("EXPLAIN (COSTS OFF) " + sql, bindings) { $0.text(0) }
        }
    }

    /// Those that read a whole table or sort; where it does not sort, PostgreSQL's must not
    /// read a whole index either.
    ///
    /// Where it may sort, tables of no rows make it join in ways that real ones do not: then it
    /// only shows that an index is there.
    func wasteful(_ steps: [String], sorts: Bool) -> [String] {
        switch self {
        case .sqlite:
            steps.filter { step in
                // What a value holds, such as a list of texts, is no table.
                step.hasPrefix("SCAN") && !step.contains("USING") && !step.contains("VIRTUAL TABLE")
                    && !step.contains("CONSTANT ROW")
                    && !["due", "waiting", "sending", "part", "places", "(subquery"].contains {
                        step.contains("SCAN \($0)")
                    }
                    || step.contains("TEMP B-TREE FOR ORDER BY")
            }
        case .postgres:
            zip(steps, steps.dropFirst() + [""]).compactMap { step, next in
                let isWhole = step.contains(" using ") && !next.contains("Index Cond:") || step.hasSuffix("Sort")
                return step.contains("Seq Scan") || !sorts && isWhole ? step : nil
            }
        }
    }
}
