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

    func execute(script: String) throws(StoreError) { try base.execute(script: script) }
    var isInTransaction: Bool { base.isInTransaction }
    func checkpoint() throws(StoreError) { try base.checkpoint() }
    func close() { base.close() }
}
