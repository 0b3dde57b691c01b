import Foundation
import JSON
import Testing
import TocsinAuth
import TocsinServer
import TocsinStore

/// A dump as a version would have made it that knew fewer migrations, and so not the tables and
/// columns that later ones add.
struct OlderDump {
    private(set) var lines: [String] = []
    /// The rows as they are today once it was imported: without those tables, and
    /// with nulls or defaults in those columns.
    private(set) var rowsToday: [String] = []
    private(set) var missingTables: Set<String> = []
    private var missingColumns: [String: Set<String>] = [:]

    private var columns: [String: [String]] = [:]
    private var pending: [String] = []
    private var chunks = 0
    private var counts = JSONObject()

    init(of lines: [String], level: Int) throws {
        for migration in try Migration.embedded(for: .sqlite) where migration.number > level { leaveOut(migration) }
        for line in lines {
            if line.hasPrefix("[") {
                try addRow(try #require(JSONParser.parse(line).arrayValue))
            } else {
                try add(try #require(JSONParser.parse(line).objectValue), level: level)
            }
        }
    }

    private mutating func leaveOut(_ migration: Migration) {
        for line in migration.text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.starts(with: ["CREATE", "TABLE"]), words.count > 2, MovedTable.named(words[2]) != nil {
                missingTables.insert(words[2])
            }
            if words.starts(with: ["ALTER", "TABLE"]), words.count > 5, words[3...4] == ["ADD", "COLUMN"] {
                missingColumns[words[2], default: []].insert(words[5])
            }
        }
    }

    private static let defaults: [String: JSONValue] = [
        "users.kind": "LOCAL", "users.admin": 0, "users.group_maker": 0, "topics.last_incident": 0,
    ]

    private mutating func addRow(_ row: [JSONValue]) throws {
        let table = try #require(row.first?.stringValue)
        if missingTables.contains(table) { return }
        let missing = missingColumns[table] ?? []
        let isMissing = [false] + (columns[table] ?? []).map(missing.contains)
        try #require(isMissing.count == row.count)
        let cells = zip(row, isMissing)
        pending.append(JSONValue.array(cells.filter { !$0.1 }.map(\.0)).serializedString())
        // What an added column has by default.
        let defaults: [JSONValue] =
            [.null] + (columns[table] ?? []).map { Self.defaults[table + "." + $0] ?? .null }
        let today = zip(cells, defaults).map { cell, value in cell.1 ? value : cell.0 }
        rowsToday.append(JSONValue.array(today).serializedString())
    }

    private mutating func add(_ line: JSONObject, level: Int) throws {
        var line = line
        if line["tocsin"] != nil {
            line["migration"] = .int(Int64(level))
            line["tables"] = .object(try describe(try #require(line["tables"]?.objectValue)))
        } else if line["chunk"] == nil {
            (line["rows"], line["chunks"]) = (.object(counts), .int(Int64(chunks)))
        } else if try missingTables.contains(#require(line["table"]?.stringValue)) {
            return
        } else {
            chunks += 1
            let digest = Digest.sha256(pending.flatMap { Array($0.utf8) + [0x0A] }).hexadecimal
            (line["chunk"], line["sha256"]) = (.int(Int64(chunks)), .string(digest))
            line["token"] = .string(try token(try #require(line["token"]?.stringValue)))
            lines += pending
            pending = []
        }
        lines.append(JSONValue.object(line).serializedString())
    }

    /// The header's tables without what is missing.
    private mutating func describe(_ tables: JSONObject) throws -> JSONObject {
        var left = JSONObject()
        for table in tables where !missingTables.contains(table.key) {
            let described = try #require(table.value.objectValue)
            columns[table.key] = described.keys
            let missing = missingColumns[table.key] ?? []
            left[table.key] = .object(
                JSONObject(described.filter { !missing.contains($0.key) }.map { ($0.key, $0.value) })
            )
        }
        return left
    }

    private mutating func token(_ text: String) throws -> String {
        let data = try #require(Data(base64Encoded: text))
        var token = try #require(JSONParser.parse([UInt8](data)).objectValue)
        var rows = try #require(token["rows"]?.objectValue)
        for table in missingTables { rows[table] = nil }
        (token["rows"], token["chunk"], counts) = (.object(rows), .int(Int64(chunks)), rows)
        return Data(JSONValue.object(token).serialized()).base64EncodedString()
    }
}
