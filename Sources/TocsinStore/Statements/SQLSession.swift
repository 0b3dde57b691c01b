import TocsinCore

/// A connection with the models' statements made for it; belongs to one thread.
final class SQLSession {
    let connection: any SQLConnection
    let dialect: Dialect
    private var models: [ObjectIdentifier: ModelStatements] = [:]
    private static let maximumModels = 256
    /// Which topics have many members, as of a while ago.
    private var largeTopics: [TopicID: (isLarge: Bool, uses: Int)] = [:]
    private static let maximumTopics = 4096
    private static let usesOfSize = 50

    init(connection: any SQLConnection, dialect: Dialect) {
        self.connection = connection
        self.dialect = dialect
    }

    func statements(for model: ModelType) throws(StoreError) -> ModelStatements {
        let key = ObjectIdentifier(model)
        if let statements = models[key] { return statements }
        let statements = try ModelStatements(model: model, dialect: dialect)
        if models.count >= Self.maximumModels { models.removeAll() }
        models[key] = statements
        return statements
    }
}

extension SQLSession {
    /// Whether a topic counts as large: counted now and then, as it only decides
    /// how a statement is worded.
    func isLarge(_ topic: TopicID, count: () throws(StoreError) -> Bool) throws(StoreError) -> Bool {
        if let known = largeTopics[topic], known.uses < Self.usesOfSize {
            largeTopics[topic] = (known.isLarge, known.uses + 1)
            return known.isLarge
        }
        let isLarge = try count()
        if largeTopics.count >= Self.maximumTopics { largeTopics.removeAll() }
        largeTopics[topic] = (isLarge, 0)
        return isLarge
    }
}

/// What reads through a session; the statements are extensions of this, a file an aggregate.
protocol SQLReading: StoreReader {
    var session: SQLSession { get }
    /// Whether what is read decides what is written.
    var isWriting: Bool { get }
}

extension SQLReading {
    var connection: any SQLConnection { session.connection }

    /// Ends a selection of rows, from the table with this name or alias, that a write may rest
    /// on: a writer locks them.
    func lock(_ table: String) -> String { isWriting ? session.dialect.rowLock(table) : "" }
}

/// Reads of one closure.
struct SQLReader: SQLReading {
    let session: SQLSession
    let isWriting = false
}

/// Writes of one group; collects what they note.
final class SQLWriter: SQLReading, StoreWriter {
    let session: SQLSession
    let isWriting = true
    /// Whether the transaction began when no other was under way.
    var isFenced = false
    /// Whether a write of the group asked for that.
    private(set) var wantsFence = false
    /// Where the request came from whose write is performed now.
    var origin: RequestOrigin?
    /// The group's in the journal.
    var serial: Int64?
    private var notes: [Note] = []

    private enum Note {
        case events([DomainEvent])
        case created(NewMessages)
    }

    init(session: SQLSession) { self.session = session }

    var unlocked: any StoreReader { SQLReader(session: session) }

    /// Locks, until the transaction ends, what a name stands for against other writers.
    func lock(name: String) throws(StoreError) {
        guard let statement = session.dialect.nameLock else { return }
        try connection.run(statement, [.text(name)])
    }

    func fenceChanges() throws(StoreError) {
        guard session.dialect.hasManyWriters else { return }
        if isFenced {
            // The lock was asked for with the begin, whose answer nobody waits
            // for: this waits for both.
            try connection.run("SELECT 1")
            return
        }
        wantsFence = true
        throw .overtaken(isWhole: true, code: 0, message: "the group begins again behind a fence", sql: "")
    }

    func note(_ events: [DomainEvent]) { notes.append(.events(events)) }

    func noteCreated(_ messages: NewMessages) { notes.append(.created(messages)) }

    /// What was noted; messages have their numbers once the transaction was committed.
    var events: [DomainEvent] {
        notes.flatMap { note in
            switch note {
            case .events(let events): events
            case .created(let messages): messages.records.map(DomainEvent.created)
            }
        }
    }

    /// Messages whose numbers the database has not told.
    var unnumbered: [NewMessages] {
        notes.compactMap { note in
            if case .created(let messages) = note, !messages.areNumbered { messages } else { nil }
        }
    }

    var noteCount: Int { notes.count }

    /// Forgets what was noted since there were `count` notes: their closure failed.
    func forgetNotes(after count: Int) { notes.removeSubrange(count...) }
}

/// `$first, $first+1…` for a list of bound values.
///
/// Lists are padded with their last value to a few lengths, so that few
/// statements are prepared for them.
struct BoundList {
    let placeholders: String
    let bindings: [SQLValue]
    /// Values in one statement at most.
    static let maximumCount = 512

    init(_ values: some Collection<String>, firstParameter: Int = 1) {
        var bindings = values.map(SQLValue.text)
        var length = 1
        while length < bindings.count { length *= 2 }
        if let last = bindings.last { bindings += Array(repeating: last, count: length - bindings.count) }
        self.bindings = bindings
        placeholders = bindings.indices.map { "$\(firstParameter + $0)" }.joined(separator: ", ")
    }
}

extension Array {
    /// Slices of at most this many elements.
    func chunks(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
