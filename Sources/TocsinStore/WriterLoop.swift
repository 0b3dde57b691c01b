import TocsinCore

/// Commits groups of writes on one connection, and opens a new one when that is lost.
struct WriterLoop {
    let thread: WriterThread
    /// nil after the connection was lost, and before the database could be opened.
    var session: SQLSession?

    /// How a group is run, and how often it was begun again; its closures leave nothing outside, so that they may.
    private struct Attempt {
        /// Each write in a savepoint: one that fails is undone alone.
        var inSavepoints = false
        /// Begun when no other write was under way, on any node.
        var isFenced = false
        var overtaken = 0
        var losses = 0
        private static let mostOvertaken = 4

        /// Whether one more attempt may go better, which it is changed for.
        mutating func prepareAnother(after error: StoreError, isLost: Bool, wantsFence: Bool) -> Bool {
            if wantsFence, !isFenced {
                isFenced = true
                return true
            }
            switch error {
            case .overtaken where overtaken < Self.mostOvertaken:
                overtaken += 1
                return true
            case .unavailable where isLost && losses == 0:
                losses += 1
                return true
            default: return false
            }
        }

        /// Whether a write that met another's may be run again.
        var mayBeOvertaken: Bool { overtaken < Self.mostOvertaken }
    }

    /// Commits the writes that succeed, tells the observer, then resumes all callers in order.
    mutating func commit(_ group: [WriteIntent]) {
        var attempt = Attempt()
        while true {
            var wantsFence = false
            do throws(StoreError) {
                let writer = SQLWriter(session: try currentSession())
                defer { wantsFence = writer.wantsFence }
                guard let resumptions = try transact(group, writer, attempt) else {
                    attempt.inSavepoints = true
                    continue
                }
                if !writer.events.isEmpty { thread.observer(writer.events) }
                for resume in resumptions { resume() }
                return
            } catch {
                let isLost = session?.connection.isLost ?? false
                abandon()
                if attempt.prepareAnother(after: error, isLost: isLost, wantsFence: wantsFence) { continue }
                thread.statistics.withLock { $0.failedGroups += 1 }
                let failure = Self.groupFailure(error)
                for intent in group { intent.fail(failure) }
                return
            }
        }
    }

    /// One transaction for the group, in which each write can fail alone; throws when the group as a whole has failed.
    ///
    /// Savepoints would cost each write a quarter of its time, and failures are rare: so a group does without, and only
    /// when a write fails after others the group is to be run once more, each write in a savepoint: then nil is answered.
    private func transact(
        _ group: [WriteIntent],
        _ writer: SQLWriter,
        _ attempt: Attempt
    ) throws(StoreError) -> [@Sendable () -> Void]? {
        let connection = writer.session.connection
        writer.isFenced = attempt.isFenced
        try begin(writer)
        guard let outcome = try running(group, writer, attempt) else {
            try connection.run("ROLLBACK")
            return nil
        }
        do throws(StoreError) {
            return try end(outcome, connection)
        } catch {
            // The commit was not begun: a statement failed that nobody had waited for.
            guard connection.isInTransaction, !attempt.inSavepoints, case .statement = error else { throw error }
            try connection.run("ROLLBACK")
            return nil
        }
    }

    private func begin(_ writer: SQLWriter) throws(StoreError) {
        let dialect = writer.session.dialect
        let fenced = writer.isFenced ? dialect.beginFenced : nil
        try writer.session.connection.run(fenced ?? dialect.beginWriting)
    }

    private struct Outcome {
        var resumptions: [@Sendable () -> Void] = []
        var successes = 0
    }

    /// Runs the writes of a group; nil when one that failed cannot be undone alone.
    private func running(
        _ group: [WriteIntent],
        _ writer: SQLWriter,
        _ attempt: Attempt
    ) throws(StoreError) -> Outcome? {
        let connection = writer.session.connection
        var outcome = Outcome()
        for intent in group {
            guard intent.turn.isWanted else {
                outcome.resumptions.append { intent.fail(.stopped) }
                continue
            }
            let eventCount = writer.events.count
            if attempt.inSavepoints { try connection.run("SAVEPOINT intent") }
            switch intent.run(writer) {
            case .success(let resume):
                if attempt.inSavepoints, let error = releaseFailure(connection) {
                    try undo(intent, error, writer, attempt, &outcome)
                    writer.forgetEvents(after: eventCount)
                } else {
                    outcome.successes += 1
                    outcome.resumptions.append(resume)
                }
            case .failure(let error):
                guard attempt.inSavepoints || outcome.successes == 0 else {
                    try check(error, connection, attempt)
                    return nil
                }
                try undo(intent, error, writer, attempt, &outcome)
                writer.forgetEvents(after: eventCount)
            }
        }
        return outcome
    }

    /// Ends a write's savepoint; answers the failure of a statement that nobody had waited for.
    private func releaseFailure(_ connection: any SQLConnection) -> StoreError? {
        do throws(StoreError) {
            try connection.run("RELEASE intent")
            return nil
        } catch {
            return error
        }
    }

    /// Throws the failure of a write when it is the whole group's.
    private func check(_ error: StoreError, _ connection: any SQLConnection, _ attempt: Attempt) throws(StoreError) {
        if case .overtaken = error, attempt.mayBeOvertaken { throw error }
        // Some failures (a full disk) end the whole transaction, and with it the writes before this one.
        guard connection.isInTransaction else { throw error }
    }

    /// Takes back what a failed write did, and nothing else.
    private func undo(
        _ intent: WriteIntent,
        _ error: StoreError,
        _ writer: SQLWriter,
        _ attempt: Attempt,
        _ outcome: inout Outcome
    ) throws(StoreError) {
        let connection = writer.session.connection
        try check(error, connection, attempt)
        if attempt.inSavepoints {
            try connection.run("ROLLBACK TO intent")
            try connection.run("RELEASE intent")
        } else {
            try connection.run("ROLLBACK")
            try begin(writer)
        }
        let failure = Self.writeFailure(error)
        outcome.resumptions.append { intent.fail(failure) }
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
        if let session, !session.connection.isLost { return session }
        session?.connection.close()
        session = nil
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

    /// What a write's caller is told that other writes were in the way of, once too often.
    private static func writeFailure(_ error: StoreError) -> StoreError {
        guard case .overtaken(let isWhole, let code, let message, let sql) = error else { return error }
        return isWhole ? crowded(error) : .statement(code: code, message: message, sql: sql)
    }

    private static func crowded(_ error: StoreError) -> StoreError {
        .unavailable(reason: "other writes were in the way; try again in a moment", detail: error.description)
    }

    /// Nothing of the group is stored, or nobody knows, whatever failed: its callers may try again.
    private static func groupFailure(_ error: StoreError) -> StoreError {
        switch error {
        case .unavailable, .uncertain: error
        case .overtaken: crowded(error)
        case .statement, .mismatch, .stopped:
            .unavailable(reason: "the database failed", detail: error.description)
        }
    }
}
