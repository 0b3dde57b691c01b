import Synchronization
import TocsinCore

/// What a writer thread works with.
struct WriterThread: Sendable {
    let database: any SQLDatabase
    let role: StoreRole
    let settings: StoreSettings
    let openedAt: Timestamp
    let observer: SQLStore.CommitObserver
    let queue: WorkQueue<any QueuedWrite>
    let readers: Countdown
    let statistics: Mutexed<StoreStatistics>
    let opening: Opening
    let turns: WriterTurns

    /// Opens the database, tells so, commits groups until the queue is closed and empty,
    /// and closes the database.
    func run(opened: @Sendable (Result<Void, StoreError>) -> Void, ended: @Sendable () -> Void) {
        let claim: (any ServerClaim)?
        var session: SQLSession?
        do throws(StoreError) {
            claim = role == .server ? try database.claimServer() : nil
        } catch {
            return opened(.failure(error))
        }
        do throws(StoreError) {
            session = try open()
        } catch {
            guard mayOpenLater(error) else {
                claim?.release()
                return opened(.failure(error))
            }
        }
        opened(.success(()))
        var loop = WriterLoop(thread: self, session: session)
        while case let group = queue.take(upTo: settings.groupSize), !group.isEmpty {
            turns.begin()
            loop.commit(group)
            turns.end()
        }
        readers.wait()
        loop.close()
        claim?.release()
        ended()
    }

    /// A server waits for a database that other machines run; a tool's user is told.
    private func mayOpenLater(_ error: StoreError) -> Bool {
        guard database.isShared, role == .server, case .unavailable = error else { return false }
        return true
    }

    /// A connection to the database, which is brought to this program's level
    /// when that has not been done.
    func connect() throws(StoreError) -> SQLSession {
        do throws(StoreError) {
            try opening.check()
        } catch {
            return try open()
        }
        return try session()
    }

    private func open() throws(StoreError) -> SQLSession {
        do throws(StoreError) {
            let session = try session()
            do throws(StoreError) {
                try prepare(session)
            } catch {
                session.connection.close()
                throw error
            }
            opening.succeeded()
            return session
        } catch {
            opening.failed(error)
            // What keeps readers out as well has just been told.
            if mayOpenLater(error), settings.migrations != .ignore { try? openForReaders() }
            throw error
        }
    }

    /// Lets readers begin at a database that takes no writes, if it is at this program's level.
    private func openForReaders() throws(StoreError) {
        let connection = try database.connect(.reader)
        defer { connection.close() }
        try migrator(SQLSession(connection: connection, dialect: database.dialect)).requireCurrent()
        opening.succeeded()
    }

    private func migrator(_ session: SQLSession) throws(StoreError) -> Migrator {
        Migrator(
            connection: session.connection,
            dialect: session.dialect,
            migrations: try Migration.embedded(for: session.dialect)
        )
    }

    private func prepare(_ session: SQLSession) throws(StoreError) {
        let migrator = try migrator(session)
        switch settings.migrations {
        case .apply: try migrator.migrate(at: openedAt, note: settings.migrationNote, step: settings.opening)
        case .require: try migrator.requireCurrent()
        case .ignore: break
        }
    }

    private func session() throws(StoreError) -> SQLSession {
        let connection = try database.connect(role == .server ? .writer : .tool)
        return SQLSession(connection: connection, dialect: database.dialect)
    }
}

/// Counts the groups that the writer's thread has begun and ended, for whoever looks whether it
/// stands still.
final class WriterTurns: Sendable {
    private let count = Atomic(0)

    func begin() { count.add(1, ordering: .relaxed) }

    func end() { count.add(1, ordering: .relaxed) }

    /// The number of the group under way; nil while there is none.
    var present: Int? {
        let count = count.load(ordering: .relaxed)
        return count.isMultiple(of: 2) ? nil : count
    }
}

/// Whether the database is open and at this program's level, and if not, why.
///
/// A server that other machines run may be away when this one starts: then the store goes on
/// trying, with each write.
struct Opening: Sendable {
    private let failure = Mutexed<StoreError?>(.unavailable(reason: "the database is being opened"))

    func succeeded() { failure.withLock { $0 = nil } }

    func failed(_ error: StoreError) { failure.withLock { $0 = error } }

    /// Throws why the database is not open.
    func check() throws(StoreError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
