import Glibc
import TocsinCore

/// The SQL of one model, built once from its `ModelType`: names come only from
/// there, values are only bound.
final class ModelStatements {
    let model: ModelType
    let dialect: Dialect
    /// The expression of each field, as it is compared, in the order of `model.fields`.
    let expressions: [String]
    /// The fields' values as columns in their order.
    let columns: String
    /// `SELECT … FROM table`, with the fields' values as columns in their order.
    let selection: String
    /// Selects the one record with an id, `$1`.
    let selectionByID: String
    /// Ends a selection whose rows a write rests on.
    let rowLock: String
    let insertion: RowInsertion
    /// The same, which fails where an id is taken, and numbers messages: a record has in place of
    /// its number and position how many come behind it (`NewMessages`).
    private let numbering: RowInsertion
    private var listTexts = ListTexts()
    /// Selects id and values of topics behind `WHERE id IN`, and the time of the last message of
    /// each, where this is their model.
    ///
    /// By number, of which there is an index: a plan from when there was no message might go
    /// through all of the topic. One writer makes all messages in order, so it need not look.
    private(set) lazy var topics: String = {
        let lastMaking = """
            (SELECT m.made_at FROM messages AS m WHERE m.topic_id = t.id AND m.number <= t.last_number
                ORDER BY m.number DESC NULLS LAST LIMIT 1)
            """
        return "SELECT id, \(columns), \(dialect.hasManyWriters ? lastMaking : "NULL") FROM topics AS t WHERE id IN"
    }()
    let replacement: String
    /// Ids of tombstones changed before `$1`, oldest first, at most `$2`.
    let selectionOfTombstones: String
    /// `DELETE FROM table`.
    let removal: String
    /// What every statement on a table of several models begins its condition with.
    let discriminator: SQLValue?
    /// The same in words, where an index is for one model alone: only then is it seen to serve.
    let discriminatorCondition: String?
    /// Fields in the order of the parameters of `insertion`, and of `replacement` up to the id.
    private let insertedFields: [Int]
    private let replacedFields: [Int]
    private let idField: Int
    private let kinds: [ModelField.Kind]
    /// Columns that hold texts.
    private let textColumns: [Int]
    private let isColumn: [Bool]

    init(model: ModelType, dialect: Dialect) throws(StoreError) {
        try Self.check(model)
        guard let idField = model.keyPosition else {
            throw .mismatch(reason: "Model \(model.name) has no field id.")
        }
        self.model = model
        self.dialect = dialect
        self.idField = idField
        discriminator = model.table.discriminator.map(SQLValue.text)
        discriminatorCondition = model.table.discriminator.map { "model = '\($0)'" }
        expressions = model.fields.map { Self.expression(of: $0, dialect) }
        let table = "\"\(model.table.name)\""
        columns = model.fields.map { Self.readExpression(of: $0, dialect) }.joined(separator: ", ")
        selection = "SELECT \(columns) FROM \(table)"
        rowLock = dialect.rowLock(table)
        selectionByID = selection + " WHERE id = $1" + (discriminator == nil ? "" : " AND model = $2")
        kinds = model.fields.map(\.kind)
        textColumns = model.fields.indices.filter { [.text, .json].contains(model.fields[$0].kind) }
        let isColumn = model.fields.map { Self.column(of: $0) != nil }
        self.isColumn = isColumn
        let inColumns = model.fields.indices.filter { isColumn[$0] }
        let members = model.fields.indices.filter { !isColumn[$0] }
        insertedFields = inColumns + members
        replacedFields = inColumns.filter { $0 != idField } + members
        insertion = Self.insertion(model, dialect, table, inColumns, members, isNumbering: false)
        numbering = Self.insertion(model, dialect, table, inColumns, members, isNumbering: true)
        replacement = Self.replacement(model, dialect, table, replacedFields)
        let ofModel = discriminator == nil ? "" : "model = $3 AND "
        selectionOfTombstones =
            "SELECT id FROM \(table) WHERE \(ofModel)deleted = 1 AND last_changed_at < $1 "
            + "ORDER BY last_changed_at LIMIT $2"
        removal = "DELETE FROM \(table)"
    }

    /// `SELECT … FROM table` with more columns behind those of the fields.
    func selection(with expressions: [String]) -> String {
        guard !expressions.isEmpty else { return selection }
        return "SELECT \(columns), \(expressions.joined(separator: ", ")) FROM \"\(model.table.name)\""
    }

    /// Selects how many bytes the texts of each row of a page have, without reading them.
    func sizes(ofPage page: String) -> String {
        let names = kinds.indices.map { "c\($0)" }
        let sizes = zip(names, kinds).filter { $1 == .text || $1 == .json }.map {
            "coalesce(octet_length(\($0.0)::text), 0)"
        }
        return "SELECT (\((["0"] + sizes).joined(separator: " + ")))::bigint FROM (\(page)) AS page"
            + "(\(names.joined(separator: ", ")))"
    }

    func insertionBindings(of record: Record) -> [SQLValue] {
        bindings(of: record, insertedFields) + (discriminator.map { [$0] } ?? [])
    }

    /// Binds a record for `insertion`, without a list of its values in between.
    func bind(_ record: Record, to parameters: any SQLParameters) {
        var number = 0
        for position in insertedFields {
            number += 1
            let value = record.values[position]
            guard isColumn[position] else {
                parameters.bind(dialect.boundMember(value, kinds[position]), at: number)
                continue
            }
            switch value {
            case .null: parameters.bindNull(at: number)
            case .int(let integer): parameters.bind(integer, at: number)
            case .text(let text), .json(let text): parameters.bind(text, at: number)
            case .bool, .double: parameters.bind(Self.value(value), at: number)
            }
        }
        if let discriminator { parameters.bind(discriminator, at: number + 1) }
    }

    /// What inserts new records, on databases that have lists.
    func numberedInsertion(of records: [Record]) -> (sql: String, bind: (any SQLParameters) -> Void) {
        guard let listed = numbering.listed, records.count > 1 else {
            let record = records[0]
            return (numbering.single, { self.bind(record, to: $0) })
        }
        var columns = columns(of: records)
        if let text = listTexts.text(of: numbering, columns.lists) { return (text, { columns.bindShortly(to: $0) }) }
        return (listed, { columns.bind(to: $0) })
    }

    /// The parameters of records by column, for `numbering`.
    private func columns(of records: [Record]) -> ParameterColumns {
        let count = numbering.parameterCount
        var columns = ParameterColumns(count: count)
        guard let first = records.first else { return columns }
        let same = sameFields(of: records)
        for (index, position) in insertedFields.enumerated() {
            if index > 0, same[position] {
                columns.add(bound(first.values[position], position), at: index + 1)
            } else {
                for record in records { columns.add(bound(record.values[position], position), at: index + 1) }
            }
        }
        if let discriminator { columns.add(discriminator, at: count) }
        return columns
    }

    /// Which fields have the same value in all records, by position.
    ///
    /// Looked at where they are: most are the same in all records, and none of these need be bound.
    private func sameFields(of records: [Record]) -> [Bool] {
        guard let first = records.first else { return [] }
        var same = Array(repeating: true, count: first.values.count)
        first.values.withUnsafeBufferPointer { known in
            for record in records.dropFirst() {
                record.values.withUnsafeBufferPointer { values in
                    for position in values.indices where same[position] {
                        same[position] = values.isStored(as: known, at: position)
                    }
                }
            }
        }
        return same
    }

    func replacementBindings(of record: Record) -> [SQLValue] {
        bindings(of: record, replacedFields) + [Self.value(record.values[idField])] + (discriminator.map { [$0] } ?? [])
    }

    /// Reads a row in which `columns` begin here.
    func record(_ row: any SQLRow, from first: Int = 0) -> Record {
        var values: [FieldValue] = []
        values.reserveCapacity(kinds.count)
        for (column, kind) in kinds.enumerated() {
            values.append(Self.value(of: kind, in: row, at: first + column))
        }
        return Record(model: model, values: values)
    }

    /// Reads the wanted values of a row in which `columns` begin at the first
    /// column; the others are null.
    func record(_ row: any SQLRow, only wanted: [Bool]) -> Record {
        var values: [FieldValue] = []
        values.reserveCapacity(kinds.count)
        for (column, kind) in kinds.enumerated() {
            values.append(wanted[column] ? Self.value(of: kind, in: row, at: column) : .null)
        }
        return Record(model: model, values: values)
    }

    /// The value of one field in a row in which `columns` begin at the first column.
    func value(at position: Int, of row: any SQLRow) -> FieldValue {
        Self.value(of: kinds[position], in: row, at: position)
    }

    /// The bytes of all texts of such a row.
    func textBytes(of row: any SQLRow) -> Int {
        textColumns.reduce(0) { $0 + row.byteCount($1) }
    }

    private func bindings(of record: Record, _ fields: [Int]) -> [SQLValue] {
        fields.map { bound(record.values[$0], $0) }
    }

    private func bound(_ value: FieldValue, _ position: Int) -> SQLValue {
        isColumn[position] ? Self.value(value) : dialect.boundMember(value, kinds[position])
    }
}

extension ModelStatements {
    /// A value as it is compared, and kept in a column.
    static func value(_ value: FieldValue) -> SQLValue {
        switch value {
        case .null: .null
        case .bool(let flag): SQLValue(flag)
        case .int(let number): .int(number)
        case .double(let number): .double(number)
        case .text(let text), .json(let text): .text(text)
        }
    }

    /// A text where a number should be was stored under another schema.
    ///
    /// It stays a text, so that nobody reads or writes back a number that nobody gave.
    private static func value(of kind: ModelField.Kind, in row: any SQLRow, at column: Int) -> FieldValue {
        if row.isNull(column) { return .null }
        switch kind {
        case .text: return .text(row.text(column))
        case .json: return .json(row.text(column))
        case _ where row.isText(column): return .text(row.text(column))
        case .int: return .int(row.int(column))
        case .double: return .double(row.double(column))
        case .bool: return .bool(row.int(column) != 0)
        }
    }
}

extension ModelStatements {
    private static func column(of field: ModelField) -> String? {
        switch field.storage {
        case .column(let name): name
        case .extra: nil
        }
    }

    /// A live row's `_deleted` is absent: false is never stored for it, and
    /// reads as null where it was.
    private static func expression(of field: ModelField, _ dialect: Dialect) -> String {
        switch field.storage {
        case .column("deleted"): "nullif(\"deleted\", 0)"
        case .column(let name): "\"\(name)\""
        case .extra(let name): dialect.extraMember(name, field.kind)
        }
    }

    private static func readExpression(of field: ModelField, _ dialect: Dialect) -> String {
        switch field.storage {
        case .column: expression(of: field, dialect)
        case .extra(let name): dialect.readExtraMember(name, field.kind)
        }
    }

    private static func insertion(
        _ model: ModelType,
        _ dialect: Dialect,
        _ table: String,
        _ columns: [Int],
        _ members: [Int],
        isNumbering: Bool
    ) -> RowInsertion {
        let isShared = model.table.discriminator != nil
        var names = columns.compactMap { column(of: model.fields[$0]) }.map { "\"\($0)\"" } + ["extra"]
        // Members are bound as texts, but for whole numbers where the
        // database takes them as they are.
        var kinds = columns.map { parameterKind(of: model.fields[$0]) } + members.map { _ in RowInsertion.Kind.text }
        if isShared {
            names.append("model")
            kinds.append(.text)
        }
        return RowInsertion(
            into: table,
            names,
            parameters: kinds,
            ending: isNumbering ? "" : "ON CONFLICT (\(isShared ? "model, id" : "id")) DO NOTHING",
            dialect
        ) { parameter in
            var values = columns.indices.map { parameter($0 + 1) }
            if isNumbering { number(&values, columns, of: model) }
            values.append(extra(model, dialect, members, base: "'{}'") { parameter(columns.count + 1 + $0) })
            if isShared { values.append(parameter(kinds.count)) }
            return values
        }
    }

    /// Lets the number of a message count back from its topic's last, and its
    /// position from its owner's.
    private static func number(_ values: inout [String], _ columns: [Int], of model: ModelType) {
        guard model.numberPosition != nil else { return }
        func index(_ name: String) -> Int? { columns.firstIndex { column(of: model.fields[$0]) == name } }
        if let number = index("number"), let topic = index("topic_id") {
            let last = "SELECT last_number FROM topics WHERE id = \(values[topic]) AND coalesce(deleted, 0) = 0"
            values[number] = "(\(last)) - \(values[number])"
        }
        if let position = index("position"), let owner = index("owner") {
            let last = "SELECT last_position FROM feeds WHERE owner = \(values[owner])"
            values[position] = "(\(last)) - \(values[position])"
        }
    }

    private static func parameterKind(of field: ModelField) -> RowInsertion.Kind {
        switch field.kind {
        case .text, .json: .text
        case .int, .bool: .integer
        case .double: .double
        }
    }

    private static func replacement(
        _ model: ModelType,
        _ dialect: Dialect,
        _ table: String,
        _ fields: [Int]
    ) -> String {
        var assignments: [String] = []
        for (index, position) in fields.enumerated() {
            guard let name = column(of: model.fields[position]) else { break }
            assignments.append("\"\(name)\" = $\(index + 1)")
        }
        let members = Array(fields.dropFirst(assignments.count))
        if !members.isEmpty {
            let first = assignments.count + 1
            let extra = extra(model, dialect, members, base: "extra") { "$\(first + $0)" }
            assignments.append("extra = \(extra)")
        }
        let id = fields.count + 1
        let condition = model.table.discriminator == nil ? "" : " AND model = $\(id + 1)"
        return "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE id = $\(id)\(condition)"
    }

    private static func extra(
        _ model: ModelType,
        _ dialect: Dialect,
        _ members: [Int],
        base: String,
        _ parameter: (_ index: Int) -> String
    ) -> String {
        let pairs = members.enumerated().compactMap { index, position -> (name: String, value: String)? in
            let field = model.fields[position]
            guard case .extra(let name) = field.storage else { return nil }
            return (name, dialect.memberValue(parameter(index), field.kind))
        }
        return dialect.settingMembers(pairs, in: base)
    }

    /// Names are part of statements, so they must be plain.
    private static func check(_ model: ModelType) throws(StoreError) {
        let names = model.fields.map { field in
            switch field.storage {
            case .column(let name), .extra(let name): name
            }
        }
        for name in names + [model.table.name, model.table.discriminator ?? "x"] where !isPlain(name) {
            throw .mismatch(
                reason:
                    "Model \(model.name) is stored under the name \"\(name)\"; only letters, digits and _ are allowed."
            )
        }
    }

    private static func isPlain(_ name: String) -> Bool {
        let isWord = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        }
        return isWord && name.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
    }
}

extension FieldValue {
    /// Whether the other is stored as the same: texts by bytes.
    fileprivate func isStored(as other: FieldValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.text(let left), .text(let right)), (.json(let left), .json(let right)): left.hasBytes(of: right)
        case (.null, _), (.bool, _), (.int, _), (.double, _), (.text, _), (.json, _): false
        }
    }
}

extension UnsafeBufferPointer<FieldValue> {
    /// Whether another record's value there is stored as the same as this one's.
    ///
    /// What is the same in memory is the same, and most is: so it need not be taken out of there.
    fileprivate func isStored(as other: Self, at position: Int) -> Bool {
        guard let mine = baseAddress, let others = other.baseAddress, position < other.count else { return false }
        if memcmp(mine + position, others + position, MemoryLayout<Element>.size) == 0 { return true }
        return mine[position].isStored(as: others[position])
    }
}
