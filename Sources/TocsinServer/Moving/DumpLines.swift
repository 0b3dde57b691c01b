import FoundationEssentials
import JSON
import TocsinCore
import TocsinStore

/// The lines of a dump that are not rows; `docs/production.md` shows them.
///
/// A row is an array: the table's name, then a value for each column in the header's order.
struct DumpHeader: Sendable, Hashable {
    static let format = 1

    /// Columns of a table.
    struct Table: Sendable, Hashable {
        var name: String
        var columns: [MovedColumn]
    }

    /// The dump's id, the same in each part of one.
    var dump: String
    var madeAt: Timestamp
    /// Name and version of the database it came from.
    var database: String
    /// The number of that database's last migration.
    var migration: Int
    /// A digest of the model schema.
    var model: String
    /// The chunk behind which this part begins; 0: at the beginning.
    var continues: Int
    var tables: [Table]

    init(
        dump: String,
        madeAt: Timestamp,
        database: String,
        model: String,
        snapshot: DataSnapshot
    ) throws(StoreError) {
        (self.dump, self.madeAt, self.database, self.model) = (dump, madeAt, database, model)
        migration = snapshot.migration
        continues = 0
        var tables: [Table] = []
        for table in MovedTable.all {
            tables.append(Table(name: table.name, columns: try snapshot.columns(of: table)))
        }
        self.tables = tables
    }

    /// Reads a first line; nil: it is none.
    init?(_ json: JSONValue) {
        guard json["tocsin"] == "dump", json["format"] == .int(Int64(Self.format)),
            let dump = json["dump"]?.stringValue, let made = json["madeAt"]?.intValue,
            let database = json["database"]?.stringValue, let migration = json["migration"]?.intValue,
            let model = json["model"]?.stringValue, let continues = json["continues"]?.intValue,
            let tables = json["tables"]?.objectValue
        else { return nil }
        (self.dump, self.database, self.model) = (dump, database, model)
        madeAt = Timestamp(milliseconds: Int64(made))
        self.migration = Int(migration)
        self.continues = Int(continues)
        self.tables = []
        for table in tables {
            guard let kinds = table.value.objectValue else { return nil }
            var columns: [MovedColumn] = []
            for column in kinds {
                guard let kind = column.value.stringValue.flatMap(MovedColumn.Kind.init(rawValue:)) else { return nil }
                columns.append(MovedColumn(name: column.key, kind: kind))
            }
            self.tables.append(Table(name: table.key, columns: columns))
        }
    }

    var json: JSONValue {
        var shown = JSONObject()
        for table in tables {
            shown[table.name] = .object(JSONObject(table.columns.map { ($0.name, .string($0.kind.rawValue)) }))
        }
        return [
            "tocsin": "dump", "format": .int(Int64(Self.format)), "dump": .string(dump),
            "madeAt": .int(madeAt.milliseconds), "database": .string(database), "migration": .int(Int64(migration)),
            "model": .string(model), "continues": .int(Int64(continues)), "tables": .object(shown),
        ]
    }
}

/// The position behind a chunk: what the import notes, and what the export of the rest begins with.
struct DumpToken: Sendable, Hashable {
    var dump: String
    var chunk: Int
    /// The table of the chunk, and the key of its last row.
    var table: String
    var key: [SQLValue]
    /// Rows so far, by table.
    var counts: [String: Int]

    init(dump: String, chunk: Int = 0, table: String = "", key: [SQLValue] = [], counts: [String: Int] = [:]) {
        (self.dump, self.chunk, self.table, self.key, self.counts) = (dump, chunk, table, key, counts)
    }

    /// Reads a token; nil: it is none.
    init?(text: String) {
        guard let data = Data(base64Encoded: text), let json = try? JSONParser.parse([UInt8](data)),
            let dump = json["dump"]?.stringValue, let chunk = json["chunk"]?.intValue,
            let table = json["table"]?.stringValue, let key = json["key"]?.arrayValue,
            let moved = MovedTable.named(table),
            key.count == moved.key.count, let rows = json["rows"]?.objectValue
        else { return nil }
        self.init(dump: dump, chunk: Int(chunk), table: table, key: key.compactMap(SQLValue.init(json:)))
        for row in rows { counts[row.key] = row.value.intValue.map { Int($0) } }
    }

    /// The token as text of letters, digits and `+/=`.
    var text: String {
        let json: JSONValue = [
            "dump": .string(dump), "chunk": .int(Int64(chunk)), "table": .string(table),
            "key": .array(key.map(\.json)), "rows": DumpLine.rows(counts),
        ]
        return Data(json.serialized()).base64EncodedString()
    }
}

/// Lines behind the header.
enum DumpLine {
    /// Behind the rows of a chunk; the digest is that of their lines, ends of lines included.
    case chunk(rows: Int, digest: String, token: DumpToken)
    /// The last one.
    case end(chunks: Int, counts: [String: Int])

    init?(_ json: JSONValue) {
        if json["end"] == true, let chunks = json["chunks"]?.intValue, let rows = json["rows"]?.objectValue {
            var counts: [String: Int] = [:]
            for row in rows { counts[row.key] = row.value.intValue.map { Int($0) } }
            self = .end(chunks: Int(chunks), counts: counts)
        } else if let rows = json["rows"]?.intValue, let digest = json["sha256"]?.stringValue,
            let token = json["token"]?.stringValue.flatMap(DumpToken.init(text:)),
            json["chunk"] == .int(Int64(token.chunk)), json["table"] == .string(token.table)
        {
            self = .chunk(rows: Int(rows), digest: digest, token: token)
        } else {
            return nil
        }
    }

    var json: JSONValue {
        switch self {
        case .chunk(let rows, let digest, let token):
            [
                "chunk": .int(Int64(token.chunk)), "table": .string(token.table), "rows": .int(Int64(rows)),
                "sha256": .string(digest), "token": .string(token.text),
            ]
        case .end(let chunks, let counts):
            ["end": true, "chunks": .int(Int64(chunks)), "rows": Self.rows(counts)]
        }
    }

    /// Counts in the order of the tables.
    static func rows(_ counts: [String: Int]) -> JSONValue {
        let known = MovedTable.all.compactMap { table in
            counts[table.name].map { (table.name, JSONValue.int(Int64($0))) }
        }
        return .object(JSONObject(known))
    }
}

extension SQLValue {
    init?(json: JSONValue) {
        switch json {
        case .null: self = .null
        case .int(let number): self = .int(number)
        case .string(let text): self = .text(text)
        case .bool, .double, .array, .object: return nil
        }
    }

    var json: JSONValue {
        switch self {
        case .null: .null
        case .int(let number): .int(number)
        case .double(let number): .double(number)
        case .text(let text): .string(text)
        }
    }
}
