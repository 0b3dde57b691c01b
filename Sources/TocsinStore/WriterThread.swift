import TocsinCore

/// What a writer thread works with.
struct WriterThread: Sendable {
    let database: any SQLDatabase
    let role: StoreRole
    let settings: StoreSettings
    let openedAt: Timestamp
    let observer: SQLStore.CommitObserver
    let queue: WorkQueue<WriteIntent>
    let readers: Countdown
    let statistics: Mutexed<StoreStatistics>

    /// Opens the database, tells so, commits groups until the queue is closed and empty, and closes the database.
    func run(opened: @Sendable (Result<Void, StoreError>) -> Void, ended: @Sendable () -> Void) {
        let claim: (any ServerClaim)?
        let session: SQLSession
        do throws(StoreError) {
            claim = role == .server ? try database.claimServer() : nil
        } catch {
            return opened(.failure(error))
        }
        do throws(StoreError) {
            session = try open()
        } catch {
            claim?.release()
            return opened(.failure(error))
        }
        opened(.success(()))
        var loop = WriterLoop(thread: self, session: session)
        while case let group = queue.take(upTo: settings.groupSize), !group.isEmpty {
            loop.commit(group)
        }
        readers.wait()
        loop.close()
        claim?.release()
        ended()
    }

    /// A connection to the database at this program's level.
    private func open() throws(StoreError) -> SQLSession {
        let session = try connect()
        do throws(StoreError) {
            let migrator = Migrator(
                connection: session.connection,
                dialect: session.dialect,
                migrations: try Migration.embedded(for: session.dialect)
            )
            switch settings.migrations {
            case .apply: try migrator.migrate(at: openedAt)
            case .require: try migrator.requireCurrent()
            case .ignore: break
            }
        } catch {
            session.connection.close()
            throw error
        }
        return session
    }

    func connect() throws(StoreError) -> SQLSession {
        let connection = try database.connect(role == .server ? .writer : .tool)
        return SQLSession(connection: connection, dialect: database.dialect)
    }
}

/// Commits groups of writes on one connection, and opens a new one when that is lost.
private struct WriterLoop {
    let thread: WriterThread
    /// nil after the connection was lost.
    var session: SQLSession?

    /// Commits the writes that succeed, tells the observer, then resumes all callers in order.
    mutating func commit(_ group: [WriteIntent]) {
        let resumptions: [@Sendable () -> Void]
        do throws(StoreError) {
            let session = try currentSession()
            let writer = SQLWriter(session: session)
            resumptions = try transact(group, writer)
            if !writer.events.isEmpty { thread.observer(writer.events) }
        } catch {
            abandon()
            thread.statistics.withLock { $0.failedGroups += 1 }
            let failure = Self.groupFailure(error)
            for intent in group { intent.work.fail(failure) }
            return
        }
        for resume in resumptions { resume() }
    }

    /// One transaction for the group, in which each write can fail alone; throws when the group as a whole has failed.
    ///
    /// Savepoints would cost each write a quarter of its time, and failures are rare: so a group does without, and only
    /// when a write fails after others, or in a batch, the group is run once more, each batch in a savepoint.
    private func transact(_ group: [WriteIntent], _ writer: SQLWriter) throws(StoreError) -> [@Sendable () -> Void] {
        let connection = writer.session.connection
        try connection.run(writer.session.dialect.beginWriting)
        if let outcome = try running(group, writer, inSavepoints: false) { return try end(outcome, connection) }
        try connection.run("ROLLBACK")
        writer.forgetEvents(after: 0)
        try connection.run(writer.session.dialect.beginWriting)
        let outcome = try running(group, writer, inSavepoints: true) ?? Outcome()
        return try end(outcome, connection)
    }

    private struct Outcome {
        var resumptions: [@Sendable () -> Void] = []
        var successes = 0
    }

    /// Runs the writes of a group, those of one kind that follow each other as one batch; nil when one that failed cannot be
    /// undone alone.
    private func running(
        _ group: [WriteIntent],
        _ writer: SQLWriter,
        inSavepoints: Bool
    ) throws(StoreError) -> Outcome? {
        var outcome = Outcome()
        var rest = group[...]
        while let first = rest.first {
            guard first.turn.isWanted else {
                outcome.resumptions.append { first.work.fail(.stopped) }
                rest.removeFirst()
                continue
            }
            let followers = rest.dropFirst().prefix { $0.turn.isWanted && first.work.isJoined(by: $0.work) }
            let batch = rest[..<followers.endIndex]
            rest = rest[followers.endIndex...]
            if inSavepoints {
                try run(inSavepoint: batch, first, writer, &outcome)
            } else {
                guard try run(batch, first, writer, &outcome) else { return nil }
            }
        }
        return outcome
    }

    /// Runs a batch; false when it failed and cannot be undone alone.
    private func run(
        _ batch: ArraySlice<WriteIntent>,
        _ first: WriteIntent,
        _ writer: SQLWriter,
        _ outcome: inout Outcome
    ) throws(StoreError) -> Bool {
        let connection = writer.session.connection
        do throws(StoreError) {
            outcome.resumptions += try first.work.perform(batch, writer)
            outcome.successes += batch.count
            return true
        } catch {
            // Some failures (a full disk) end the whole transaction, and with it the writes before this one.
            guard connection.isInTransaction else { throw error }
            guard outcome.successes == 0, batch.count == 1 else { return false }
            try connection.run("ROLLBACK")
            try connection.run(writer.session.dialect.beginWriting)
            writer.forgetEvents(after: 0)
            outcome.resumptions.append { first.work.fail(error) }
            return true
        }
    }

    /// Runs a batch in a savepoint; one that fails is undone, divided and run again, until what fails is one write.
    private func run(
        inSavepoint batch: ArraySlice<WriteIntent>,
        _ first: WriteIntent,
        _ writer: SQLWriter,
        _ outcome: inout Outcome
    ) throws(StoreError) {
        let connection = writer.session.connection
        let eventCount = writer.events.count
        try connection.run("SAVEPOINT intent")
        var failure: StoreError?
        do throws(StoreError) {
            outcome.resumptions += try first.work.perform(batch, writer)
            outcome.successes += batch.count
        } catch {
            guard connection.isInTransaction else { throw error }
            try connection.run("ROLLBACK TO intent")
            writer.forgetEvents(after: eventCount)
            failure = error
        }
        try connection.run("RELEASE intent")
        guard let failure else { return }
        guard batch.count > 1 else { return outcome.resumptions.append { first.work.fail(failure) } }
        let middle = batch.startIndex + batch.count / 2
        for half in [batch[..<middle], batch[middle...]] {
            guard let first = half.first else { continue }
            try run(inSavepoint: half, first, writer, &outcome)
        }
    }

    /// Commits what has succeeded; answers whom to tell.
    private func end(_ outcome: Outcome, _ connection: any SQLConnection) throws(StoreError) -> [@Sendable () -> Void] {
        guard outcome.successes > 0 else {
            try connection.run("ROLLBACK")
            return outcome.resumptions
        }
        let start = ContinuousClock.now
        try connection.run("COMMIT")
        let time = ContinuousClock.now - start
        thread.statistics.withLock { statistics in
            statistics.commits += 1
            statistics.committedWrites += outcome.successes
            statistics.commitTime += time
        }
        return outcome.resumptions
    }

    private mutating func currentSession() throws(StoreError) -> SQLSession {
        if let session { return session }
        let new = try thread.connect()
        session = new
        return new
    }

    /// Ends a failed transaction; a connection that cannot even do that is given up.
    private mutating func abandon() {
        guard let connection = session?.connection, connection.isInTransaction else { return }
        do throws(StoreError) {
            try connection.run("ROLLBACK")
        } catch {
            connection.close()
            session = nil
        }
    }

    mutating func close() {
        guard let connection = session?.connection else { return }
        if thread.role == .server {
            // The log is complete without a checkpoint: a failure here only leaves it for the next start.
            try? connection.checkpoint()
        }
        connection.close()
        session = nil
    }

    /// Nothing of the group is stored, whatever failed: its callers may try again.
    private static func groupFailure(_ error: StoreError) -> StoreError {
        switch error {
        case .unavailable: error
        case .statement, .mismatch, .stopped:
            .unavailable(reason: "the database failed", detail: error.description)
        }
    }
}
