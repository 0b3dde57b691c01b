import CPostgres
import Foundation

/// Rows of a message's size written by hand, through libpq alone: one statement of many rows a
/// commit, on one connection.
struct PostgresFloor {
    let url: String
    /// Rows of a statement, and of a commit.
    let rows: Int
    let body: String

    enum Table: String {
        /// As few columns and indexes as a numbered message can have.
        case bare
        /// The server's own, which must be there, with its columns and indexes.
        case messages

        var name: String {
            switch self {
            case .bare: "a bare table"
            case .messages: "the table of messages"
            }
        }
    }

    /// As long as the server's own, which stand in every row and in four of its indexes.
    private static let topic = "0197a000-0000-7abc-8def-000000000001"
    private static let owner = "0197a000-0000-7abc-8def-000000000002::bench-1234567890"

    func run(_ table: Table, seconds: Double, serverCPU: () -> Double) throws -> Figures {
        guard let connection = PQconnectdb(url), PQstatus(connection) == CONNECTION_OK else {
            throw BenchFailure("the floor cannot connect to PostgreSQL")
        }
        defer { PQfinish(connection) }
        try execute(connection, "SET synchronous_commit = on")
        if table == .bare {
            try execute(
                connection,
                """
                CREATE TABLE floor (id text COLLATE "C" PRIMARY KEY, topic text COLLATE "C", number bigint, title text,
                    body text, at text, UNIQUE (topic, number))
                """
            )
        }
        let insertion = PQprepare(connection, "rows", statement(table), 0, nil)
        defer { PQclear(insertion) }
        guard PQresultStatus(insertion) == PGRES_COMMAND_OK else {
            throw BenchFailure("the floor's statement failed: \(String(cString: PQerrorMessage(connection)))")
        }
        let (start, cpu, serverStart) = (Date(), ProcessUsage.ownCPU(), serverCPU())
        var count = 0
        while Date().timeIntervalSince(start) < seconds {
            try insert(connection, from: count)
            count += rows
        }
        return Figures(
            name: "floor: \(rows) rows a statement, \(table.name)",
            operations: count,
            seconds: Date().timeIntervalSince(start),
            cpuSeconds: ProcessUsage.ownCPU() - cpu + serverCPU() - serverStart
        )
    }

    /// One statement is a transaction of its own.
    private func insert(_ connection: OpaquePointer, from first: Int) throws {
        let texts = (first..<(first + rows)).flatMap { number in
            // Ids of the server's length that grow with time, as its own do.
            [String(format: "0197a000-%04x-7abc-8def-%012d", number >> 16 & 0xffff, number), String(number)]
        }
        let result = body.withCString { body in
            withPointers(texts) { pointers in
                var values: [UnsafePointer<CChar>?] = []
                for row in 0..<rows { values += [pointers[row * 2], pointers[row * 2 + 1], body] }
                return PQexecPrepared(connection, "rows", Int32(values.count), values, nil, nil, 0)
            }
        }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else {
            throw BenchFailure("the floor's insert failed: \(String(cString: PQerrorMessage(connection)))")
        }
    }

    /// Hands over C strings of texts, in one piece of memory.
    private func withPointers<Result>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
        var bytes: [CChar] = []
        var starts: [Int] = []
        for text in texts {
            starts.append(bytes.count)
            bytes += text.utf8CString
        }
        return bytes.withUnsafeBufferPointer { buffer in
            body(starts.map { start in buffer.baseAddress.map { $0 + start } })
        }
    }

    private func statement(_ table: Table) -> String {
        let lists = (0..<rows).map { row in
            let (id, number, body) = ("$\(row * 3 + 1)::text", "$\(row * 3 + 2)::bigint", "$\(row * 3 + 3)::text")
            guard table == .bare else { return "(\(id), \(number), \(body))" }
            return "(\(id), '\(Self.topic)', \(number), 'Disk full', \(body), '2026-07-01T12:00:00.000Z')"
        }
        let values = lists.joined(separator: ", ")
        switch table {
        case .bare: return "INSERT INTO floor (id, topic, number, title, body, at) VALUES \(values)"
        case .messages:
            return """
                WITH rows (id, number, body) AS (VALUES \(values))
                INSERT INTO messages (id, topic_id, number, owner, position, type, title, body, created_at, updated_at,
                    version, last_changed_at, made_at, priority)
                SELECT id, '\(Self.topic)', number, '\(Self.owner)', number, 1, 'Disk full', body, '2026-07-01T12:00:00.000Z',
                    '2026-07-01T12:00:00.000Z', 1, 1782907200000, 1782907200000, 3
                FROM rows
                """
        }
    }

    private func execute(_ connection: OpaquePointer, _ sql: String) throws {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else {
            throw BenchFailure("the floor failed: \(String(cString: PQerrorMessage(connection)))")
        }
    }
}
