import Glibc
import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

/// One connection to a real server; where none is named these tests are left out.
@Suite("PostgreSQL sessions", .enabled(if: PostgresServer.named != nil))
struct PostgresSessionTests {
    private func server() throws -> PostgresServer { try #require(PostgresServer.named) }

    private func database(_ change: (inout PostgresOptions) -> Void = { _ in }) throws -> PostgresDatabase {
        var database = PostgresDatabase(url: try server().url)
        change(&database.options)
        return database
    }

    private func setting(_ name: String, _ connection: any SQLConnection) throws -> String? {
        try connection.first("SELECT setting FROM pg_settings WHERE name = $1", [.text(name)]) { $0.text(0) }
    }

    @Test("a session commits synchronously and has limits of time, which a pooler's transactions bring along")
    func settings() throws {
        for prepares in [true, false] {
            let connection = try database { $0.preparesStatements = prepares }.connect(.writer)
            defer { connection.close() }
            try connection.run("BEGIN")
            #expect(try setting("synchronous_commit", connection) == "on")
            #expect(try setting("statement_timeout", connection) == "8000")
            #expect(try setting("lock_timeout", connection) == "2000")
            #expect(try setting("idle_in_transaction_session_timeout", connection) == "15000")
            try connection.run("ROLLBACK")
        }
    }

    @Test("a pooler's session prepares nothing, others a bounded number of statements")
    func preparedStatements() throws {
        for (prepares, expected) in [(true, 1...256), (false, 0...0)] {
            let connection = try database { $0.preparesStatements = prepares }.connect(.reader)
            defer { connection.close() }
            for number in 0..<600 {
                #expect(try connection.first("SELECT $1 AS c\(number)", [.int(7)]) { $0.int(0) } == 7)
            }
            let count = try connection.first("SELECT count(*) FROM pg_prepared_statements") { $0.int(0) } ?? -1
            #expect(expected.contains(Int(count)), "\(count)")
        }
    }

    @Test(
        "a statement that was planned while its table was empty still goes by the index when that has grown",
        arguments: [
            ConnectionUse.writer, .reader,
        ]
    )
    func plans(_ use: ConnectionUse) throws {
        let maker = try database().connect(.writer)
        defer { maker.close() }
        let table = "grown_\(use)_\(getpid())"
        let columns = (0..<15).map { "c\($0) TEXT" }.joined(separator: ", ")
        try maker.run("CREATE TABLE \(table) (id BIGINT PRIMARY KEY, \(columns)) WITH (autovacuum_enabled = off)")
        defer { _ = try? maker.run("DROP TABLE \(table)") }
        let connection = try database().connect(use)
        defer { connection.close() }
        let look = "SELECT count(*) FROM unnest($1::bigint[]) AS n (id) JOIN \(table) AS g ON g.id = n.id"
        // After the fifth run PostgreSQL may keep the plan.
        for _ in 0..<7 { #expect(try connection.first(look, [.text("{1,2}")]) { $0.int(0) } == 0) }
        try maker.run("INSERT INTO \(table) (id) SELECT generate_series(1, 20000)")
        try connection.run("BEGIN")
        #expect(try connection.first(look, [.text("{1,2}")]) { $0.int(0) } == 2)
        let scans = "SELECT pg_stat_get_xact_numscans('\(table)'::regclass)"
        #expect(try connection.first(scans) { $0.int(0) } == 0, "it was read from end to end")
        try connection.run("ROLLBACK")
    }

    @Test("statements sent together are performed in order, each row told as its statement's, and none after one fails")
    func together() throws {
        let connection = try database().connect(.writer)
        defer { connection.close() }
        try connection.run("CREATE TEMPORARY TABLE x (n BIGINT PRIMARY KEY)")
        try connection.run("BEGIN")
        try connection.queue("INSERT INTO x VALUES (1)", [])
        var rows: [[Int64]] = []
        try connection.runTogether([
            ("INSERT INTO x VALUES ($1), ($2) RETURNING n", [.int(2), .int(3)]), ("DELETE FROM x WHERE n = 2", []),
            ("SELECT n FROM x ORDER BY n", []),
        ]) { rows.append([Int64($0), $1.int(0)]) }
        #expect(rows == [[0, 2], [0, 3], [2, 1], [2, 3]])
        try connection.run("COMMIT")
        try connection.run("BEGIN")
        #expect(throws: StoreError.self) {
            try connection.runTogether([
                ("DELETE FROM x", []), ("INSERT INTO x VALUES (4), (4)", []), ("SELECT n FROM x", []),
            ]) { statement, _ in #expect(statement != 2) }
        }
        try connection.run("ROLLBACK")
        #expect(try connection.first("SELECT count(*) FROM x") { $0.int(0) } == 2)
    }

    @Test("values come back as they went, whatever the first of their kind was")
    func values() throws {
        let connection = try database().connect(.writer)
        defer { connection.close() }
        try connection.run("CREATE TEMPORARY TABLE x (n BIGINT, t TEXT)")
        let numbers: [Int64?] = [nil, 0, .min, .max, -7]
        let texts: [String?] = [nil, "", "é\u{1F514}", "a'b\"c\\d\n", "null"]
        for (number, text) in zip(numbers, texts) {
            let row = [number.map(SQLValue.int) ?? .null, SQLValue(text)]
            #expect(try connection.run("INSERT INTO x VALUES ($1, $2)", row) == 1)
        }
        let found = try connection.all("SELECT n, t FROM x") { row in
            (row.isNull(0) ? nil : row.int(0), row.optionalText(1))
        }
        #expect(found.map(\.0) == numbers)
        #expect(found.map(\.1) == texts)
        // A fraction among whole numbers is compared as what it is.
        #expect(try connection.all("SELECT n FROM x WHERE n > $1", [.double(0.5)]) { $0.int(0) } == [.max])
        #expect(try connection.all("SELECT n FROM x WHERE n > $1", [.int(0)]) { $0.int(0) } == [.max])
    }

    @Test("a JSON value is read as the scalar that it is")
    func jsonValues() throws {
        let connection = try database().connect(.reader)
        defer { connection.close() }
        let sql = #"SELECT v, v -> 'a', v -> 'b', v -> 'c', v -> 'd', v -> 'e' FROM (SELECT $1::jsonb AS v) AS x"#
        let text = #"{"a": 5, "b": true, "c": null, "d": "q\"\u0001\n\\é", "e": 1.5}"#
        try #require(
            try connection.first(sql, [.text(text)]) { row in
                #expect(row.int(1) == 5 && !row.isText(1))
                #expect(row.int(2) == 1)
                #expect(row.isNull(3) && !row.isNull(4))
                #expect(row.text(4) == "q\"\u{1}\n\\é" && row.isText(4))
                #expect(row.double(5) == 1.5)
                return true
            } == true
        )
    }

    @Test("a statement that runs too long is ended, and the connection goes on")
    func timeLimit() throws {
        let connection = try database { $0.readLimitMilliseconds = 50 }.connect(.reader)
        defer { connection.close() }
        let error = #expect(throws: StoreError.self) { try connection.run("SELECT pg_sleep(60)") }
        #expect(error?.description.contains("took too long") == true)
        #expect(!connection.isLost)
        #expect(try connection.first("SELECT 7") { $0.int(0) } == 7)
    }

    @Test("a reader cannot write")
    func readersOnlyRead() throws {
        let connection = try database().connect(.reader)
        defer { connection.close() }
        let error = #expect(throws: StoreError.self) { try connection.run("CREATE TABLE never (a TEXT)") }
        #expect(error?.description.contains("read-only") == true)
    }

    @Test("what nobody waited for fails with the next statement, and what follows in its transaction does too")
    func queuedFailure() throws {
        let connection = try database().connect(.writer)
        defer { connection.close() }
        try connection.run("BEGIN")
        try connection.queue("INSERT INTO absent VALUES (1)", [])
        let error = #expect(throws: StoreError.self) { try connection.run("SELECT 1") }
        #expect(error?.description.contains("absent") == true)
        #expect(connection.isInTransaction)
        #expect(throws: StoreError.self) { try connection.run("COMMIT") }
        try connection.run("ROLLBACK")
        #expect(try connection.first("SELECT 7") { $0.int(0) } == 7)
    }

    @Test("a transaction is rolled back, or a part of it, though a statement failed that nobody had waited for")
    func rolledBackUnread() throws {
        let connection = try database().connect(.writer)
        defer { connection.close() }
        for (savepoint, undoing) in [(nil, "ROLLBACK"), ("SAVEPOINT part", "ROLLBACK TO part")] {
            try connection.run("BEGIN")
            if let savepoint { try connection.run(savepoint) }
            try connection.queue("INSERT INTO absent VALUES (1)", [])
            try connection.run(undoing)
            if savepoint == nil { try connection.run("BEGIN") }
            #expect(try connection.first("SELECT 7") { $0.int(0) } == 7)
            try connection.run("COMMIT")
        }
    }

    @Test("a text with a zero byte is refused before it is sent")
    func zeroByte() throws {
        let connection = try database().connect(.writer)
        defer { connection.close() }
        let error = #expect(throws: StoreError.self) { try connection.run("SELECT $1", [.text("a\0b")]) }
        #expect(error?.description.contains("zero byte") == true)
        #expect(try connection.first("SELECT $1", [.text("ab")]) { $0.text(0) } == "ab")
    }

    @Test(
        "TLS is as the URL says: the server's certificate is checked, and a wrong authority refused",
        .enabled(if: PostgresServer.authorityFile != nil)
    )
    func encryption() throws {
        let (url, file) = (try server().url, try #require(PostgresServer.authorityFile))
        let database = PostgresDatabase(url: url + "?sslmode=verify-full&sslrootcert=" + file)
        let connection = try database.connect(.reader)
        defer { connection.close() }
        let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        #expect(try connection.first(sql) { $0.int(0) } == 1)
        let error = #expect(throws: StoreError.self) {
            _ = try PostgresDatabase(url: url + "?sslmode=verify-full&sslrootcert=/etc/hostname").connect(.reader)
        }
        #expect(error?.description.contains("cannot be reached") == true)
    }

    @Test("no error names a password", arguments: ["u:secret@127.0.0.1:1/d", "127.0.0.1:1/d?user=u&password=secret"])
    func passwords(rest: String) throws {
        let error = #expect(throws: StoreError.self) {
            _ = try PostgresDatabase(url: "postgres://" + rest).connect(.writer)
        }
        #expect(error?.description.contains("secret") == false)
    }
}
