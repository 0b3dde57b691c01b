import Foundation
import Synchronization
import TocsinCore
import TocsinSQLite
import TocsinServer
import TocsinStore

/// A folder with databases that dumps are made of and go into.
final class MovingScene: Sendable {
    let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "tocsin-moving-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The settings of an installation in this folder.
    func settings(_ name: String) -> Settings {
        var settings = Settings()
        settings.server.dataDirectory = folder + "/" + name
        return settings
    }

    func path(_ name: String) -> String { folder + "/" + name }

    func database(_ name: String) throws -> any SQLDatabase {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return SQLiteDatabase(path: path(name) + "/tocsin.db")
    }

    /// Fills a new database with rows in every table.
    func fill(_ name: String, seed: UInt64, rows: Int = 40) throws {
        try MovedData.fill(try database(name), seed: seed, rows: rows)
    }

    /// Exports in small chunks; answers the dump's lines.
    func export(_ name: String, to file: String, after token: String? = nil) async throws -> [String] {
        var request = ExportRequest()
        (request.path, request.replaces, request.token) = (path(file), true, token)
        (request.limits.rows, request.limits.bytes) = (7, 4000)
        try await OfflineStore.export(settings(name), request, MovingReport())
        return try lines(of: file)
    }

    func `import`(_ files: String..., into name: String, _ mode: ImportMode = .empty) async throws -> [String: Int]? {
        try await `import`(files, into: name, mode, MovingReport())
    }

    func `import`(
        _ files: [String],
        into name: String,
        _ mode: ImportMode,
        _ report: MovingReport
    ) async throws -> [String: Int]? {
        var request = ImportRequest()
        (request.paths, request.mode) = (files.map(path), mode)
        return try await OfflineStore.import(settings(name), request, report)
    }

    func lines(of file: String) throws -> [String] {
        try String(contentsOfFile: path(file), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path(file)))
    }

    /// All rows of a database, as a dump has them.
    func rows(_ name: String) async throws -> [String] { MovedData.rows(try await export(name, to: "rows-of-" + name)) }
}

/// Rows of every table, with whatever texts and numbers may stand there.
enum MovedData {
    /// The lines of a dump that are rows.
    static func rows(_ lines: [String]) -> [String] { lines.filter { $0.hasPrefix("[") } }

    static func fill(_ database: any SQLDatabase, seed: UInt64, rows: Int) throws {
        let connection = try database.connect(.writer)
        defer { connection.close() }
        let migrations = try Migration.embedded(for: database.dialect)
        try Migrator(connection: connection, dialect: database.dialect, migrations: migrations)
            .migrate(at: Timestamp(milliseconds: 1))
        var random = Numbers(state: seed)
        try connection.run("BEGIN")
        for table in MovedTable.all {
            let columns = try connection.columns(of: table, database.dialect)
            let isPostgres = database.dialect == .postgres
            let placeholders = columns.enumerated().map { position, column in
                "$\(position + 1)" + (isPostgres && column.name == "extra" ? "::jsonb" : "")
            }.joined(separator: ", ")
            let names = columns.map(\.name).joined(separator: ", ")
            for row in 0..<rows {
                let values = columns.map { value($0, table, row, &random) }
                try connection.run("INSERT INTO \(table.name) (\(names)) VALUES (\(placeholders))", values)
            }
        }
        try connection.run("COMMIT")
    }

    private static let references = [
        "topic_id": "topics", "message_id": "messages", "user_id": "users", "group_id": "groups",
        "incident_id": "incidents",
    ]
    private static let texts = [
        "", "plain", "\"quoted\" \\ and /", "line\nbreak\r\t", "\u{1} control \u{7F}", "Grüße 🌍👩‍👩‍👧", "\u{2028}\u{FFFD}",
        "{\"a\": [1, null]}",
    ]

    private static let extras = ["{}", #"{"a":[1,null,true],"b":"Grüße \" 🌍"}"#, #"{"a":1.5,"b":{"c":[]}}"#]

    /// Ids and keys are the row's; anything else is anything that may stand there.
    private static func value(
        _ column: MovedColumn,
        _ table: MovedTable,
        _ row: Int,
        _ random: inout Numbers
    ) -> SQLValue {
        if let referred = references[column.name] { return .text(id(referred, row)) }
        let isUnique = [
            "number", "position", "token", "key", "digest", "name", "last_fanout", "active_since", "issuer",
        ]
        if table.key.contains(column.name) || isUnique.contains(column.name) {
            return column.kind == .text ? .text(id(table.name, row)) : .int(Int64(row) + 1)
        }
        if column.name == "extra" { return .text(extras[Int(random.next() % UInt64(extras.count))]) }
        // Columns that may be null are those that are seldom set.
        let isNullable = ["reason", "lease_until", "provider_id", "revoked_at", "password_hash"].contains(column.name)
        if isNullable, table.name != "ended_devices", random.next() % 2 == 0 { return .null }
        if column.kind == .text { return .text(texts[Int(random.next() % UInt64(texts.count))]) }
        return .int([0, 1, -1, .max, .min, 1_795_291_344_195][Int(random.next() % 6)])
    }

    private static func id(_ table: String, _ row: Int) -> String { "\(table)-\(row)-é\"" }
}

/// What went wrong on another thread.
final class Failures: Sendable {
    private let texts = Mutex([String]())

    func note(_ text: String) { texts.withLock { $0.append(text) } }

    var all: [String] { texts.withLock { $0 } }
}

/// Splitmix64: the same numbers for the same seed.
struct Numbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
