import TocsinCore
import TocsinStore

/// A real database whose statements a test sees before they run, and may make fail.
struct ObservedDatabase: SQLDatabase {
    typealias Observer = @Sendable (String, [SQLValue], any SQLConnection) throws(StoreError) -> Void

    let base: any SQLDatabase
    let observer: Observer

    var dialect: Dialect { base.dialect }
    var version: String { base.version }

    func connect(_ use: ConnectionUse) throws(StoreError) -> any SQLConnection {
        ObservedConnection(base: try base.connect(use), observer: observer)
    }

    func claimServer() throws(StoreError) -> (any ServerClaim)? { try base.claimServer() }
}

private final class ObservedConnection: SQLConnection {
    let base: any SQLConnection
    let observer: ObservedDatabase.Observer

    init(base: any SQLConnection, observer: @escaping ObservedDatabase.Observer) {
        self.base = base
        self.observer = observer
    }

    func run(_ sql: String, _ bindings: [SQLValue], _ row: (any SQLRow) -> Void) throws(StoreError) -> Int {
        try observer(sql, bindings, base)
        return try base.run(sql, bindings, row)
    }

    func queue(_ sql: String, bind: (_ parameters: any SQLParameters) -> Void) throws(StoreError) {
        let parameters = BoundValues()
        bind(parameters)
        try observer(sql, parameters.values, base)
        try base.queue(sql, parameters.values)
    }

    func queue(
        _ sql: String,
        _ bindings: [SQLValue],
        _ row: @escaping (any SQLRow) -> Void
    ) throws(StoreError) {
        try observer(sql, bindings, base)
        try base.queue(sql, bindings, row)
    }

    func prove(by sql: String, _ bindings: [SQLValue]) { base.prove(by: sql, bindings) }
    func execute(script: String) throws(StoreError) { try base.execute(script: script) }
    var isInTransaction: Bool { base.isInTransaction }
    var isLost: Bool { base.isLost }
    func checkpoint() throws(StoreError) { try base.checkpoint() }
    func close() { base.close() }
}

/// Parameters in their order.
private final class BoundValues: SQLParameters {
    private(set) var values: [SQLValue] = []

    private func put(_ value: SQLValue, at number: Int) {
        while values.count < number { values.append(.null) }
        values[number - 1] = value
    }

    func bind(_ text: String, at number: Int) { put(.text(text), at: number) }
    func bind(_ value: Int64, at number: Int) { put(.int(value), at: number) }
    func bind(_ value: Double, at number: Int) { put(.double(value), at: number) }
    func bindNull(at number: Int) { put(.null, at: number) }
}
