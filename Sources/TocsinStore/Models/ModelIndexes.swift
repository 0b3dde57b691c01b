import TocsinCore

/// The indexes that a schema's models ask for beyond those of the migrations: on fields that live
/// in `extra`, and on models that share a table.
///
/// A name says what is indexed, so that an index whose definition changes is another one.
struct ModelIndexes {
    private static let prefix = "model_"
    let statements: ModelStatements

    /// Name and statement of each index.
    var wanted: [(name: String, sql: String)] {
        let model = statements.model
        return making
            + model.indexes.compactMap { index in
                guard !Self.isShipped(index, of: model) else { return nil }
                let fields = ([index.partitionField] + index.sortFields).compactMap { model.position(of: $0) }
                let ending = index.sortFields.isEmpty ? nil : model.numberPosition
                let columns = (fields + [ending ?? model.keyPosition].compactMap(\.self)).map {
                    statements.dialect.indexTerm(statements.expressions[$0])
                }
                return definition(columns, statements.discriminatorCondition)
            }
    }

    /// For lists and sync of a model with a table of its own that people other than the owner may
    /// read: the shipped indexes begin with the owner.
    private var making: [(name: String, sql: String)] {
        let model = statements.model
        guard statements.discriminatorCondition == nil, let key = model.keyPosition,
            model.rules.contains(where: { $0.owner?.field != "owner" && $0.isAboutReading })
        else { return [] }
        return [(ModelType.makingTime, nil), (ModelType.revisionTime, " IS NOT NULL")].compactMap { time, condition in
            guard let position = model.position(of: time) else { return nil }
            let columns = [position, key].map { statements.dialect.indexTerm(statements.expressions[$0]) }
            return definition(columns, condition.map { statements.expressions[position] + $0 })
        }
    }

    private func definition(_ columns: [String], _ condition: String?) -> (name: String, sql: String) {
        let scope = condition.map { " WHERE \($0)" } ?? ""
        let definition = "ON \"\(statements.model.table.name)\" (\(columns.joined(separator: ", ")))\(scope)"
        let name = Self.prefix + statements.model.name + "_" + Self.fingerprint(definition)
        return (name, "CREATE INDEX \"\(name)\" \(definition)")
    }

    /// Indexes of the migrations serve these.
    private static func isShipped(_ index: ModelIndex, of model: ModelType) -> Bool {
        switch (model.name, index.partitionField, index.sortFields) {
        case ("Topic", "name", []), ("Message", "topicId", []), ("Message", "topicId", ["createdAt"]): true
        default: false
        }
    }

    private static func fingerprint(_ text: String) -> String {
        Migration(number: 0, name: "", text: text).checksum
    }

    /// Makes what is wanted and absent, drops what is there and no longer
    /// wanted; answers what it made.
    static func prepare(
        _ models: [ModelType],
        _ session: SQLSession,
        noting note: (_ done: Int, _ of: Int) -> Void
    ) throws(StoreError) -> [String] {
        let connection = session.connection
        for lock in session.dialect.tableLock { try connection.run(lock) }
        var wanted: [(name: String, sql: String)] = []
        for model in models {
            for index in ModelIndexes(statements: try session.statements(for: model)).wanted
            where !wanted.contains(where: { $0.name == index.name }) {
                wanted.append(index)
            }
        }
        let present = try connection.all(session.dialect.indexNames) { $0.text(0) }.filter { $0.hasPrefix(prefix) }
        for name in present where !wanted.contains(where: { $0.name == name }) {
            try connection.execute(script: "DROP INDEX \"\(name)\"")
        }
        let missing = wanted.filter { !present.contains($0.name) }
        for (done, index) in missing.enumerated() {
            note(done, missing.count)
            try connection.execute(script: index.sql)
        }
        return missing.map(\.name)
    }
}

extension AccessRule {
    fileprivate var isAboutReading: Bool { !operations.isDisjoint(with: [.read, .list, .sync]) }
}
