import Metrics
import TocsinCore

/// Commits groups of writes on one connection, and opens a new one when that is lost.
struct WriterLoop {
    let thread: WriterThread
    /// nil after the connection was lost, and before the database could be opened.
    var session: SQLSession?

    /// Commits the writes that succeed, tells the observer, then resumes all callers in order.
    mutating func commit(_ group: [any QueuedWrite]) {
        var attempt = GroupAttempt()
        while true {
            var wantsFence = false
            do throws(StoreError) {
                let writer = SQLWriter(session: try currentSession())
                defer { wantsFence = writer.wantsFence }
                guard let resumptions = try transact(group, writer, attempt) else {
                    attempt.inSavepoints = true
                    continue
                }
                try complete(writer)
                tell(writer)
                endRefusal(writer)
                for resume in resumptions { resume() }
                return
            } catch {
                let isLost = session?.connection.isLost ?? false
                abandon()
                if case .overtaken = error { thread.settings.metrics?.groups[.overtaken].add() }
                if attempt.prepareAnother(of: group.count, after: error, isLost: isLost, wantsFence: wantsFence) {
                    continue
                }
                let failure = GroupAttempt.groupFailure(error)
                thread.statistics.withLock { $0.noteFailure(failure) }
                thread.settings.metrics?.noteFailure(failure)
                for write in group { write.fail(failure) }
                return
            }
        }
    }

    /// One transaction for the group, in which each write can fail alone; throws when the
    /// group as a whole has failed.
    ///
    /// Savepoints would cost each write a quarter of its time, and failures are rare. So a group
    /// runs without. When a write fails after others, or in a batch, nil is answered, and the group
    /// is run once more with each batch in a savepoint.
    private func transact(
        _ group: [any QueuedWrite],
        _ writer: SQLWriter,
        _ attempt: GroupAttempt
    ) throws(StoreError) -> [() -> Void]? {
        let connection = writer.session.connection
        writer.isFenced = attempt.isFenced
        try begin(writer, attempt)
        guard let outcome = try running(group, writer, attempt) else {
            try connection.run("ROLLBACK")
            return nil
        }
        do throws(StoreError) {
            return try end(outcome, writer)
        } catch {
            // The commit was not begun: a statement failed that nobody had waited for.
            guard connection.isInTransaction, !attempt.inSavepoints else { throw error }
            switch error {
            case .statement, .unstorable: break
            case .overtaken: try attempt.check(error, connection)
            case .unavailable, .uncertain, .mismatch, .tooLarge, .stopped: throw error
            }
            try connection.run("ROLLBACK")
            return nil
        }
    }

    private func begin(_ writer: SQLWriter, _ attempt: GroupAttempt) throws(StoreError) {
        let dialect = writer.session.dialect
        try writer.session.connection.run(
            dialect.beginWriting(isFenced: attempt.isFenced, isHurried: attempt.isHurried)
        )
    }

    private struct Outcome {
        var resumptions: [() -> Void] = []
        var successes = 0
        /// Times that a lock was waited for in vain.
        var blocked = 0
    }

    /// Runs the writes of a group, those of one kind that follow each other as one batch.
    ///
    /// Answers nil when a write failed that cannot be undone alone.
    private func running(
        _ group: [any QueuedWrite],
        _ writer: SQLWriter,
        _ attempt: GroupAttempt
    ) throws(StoreError) -> Outcome? {
        var outcome = Outcome()
        var rest = group[...]
        while let first = rest.first {
            guard first.isWanted else {
                outcome.resumptions.append { first.fail(.stopped) }
                rest.removeFirst()
                continue
            }
            let followers = rest.dropFirst().prefix { $0.isWanted && first.isJoined(by: $0) }
            let batch = rest[..<followers.endIndex]
            rest = rest[followers.endIndex...]
            if attempt.inSavepoints {
                try runInSavepoint(batch, writer, attempt, &outcome)
            } else {
                guard try run(batch, writer, attempt, &outcome) else { return nil }
            }
        }
        return outcome
    }

    /// Runs a batch; false when it failed and cannot be undone alone.
    private func run(
        _ batch: ArraySlice<any QueuedWrite>,
        _ writer: SQLWriter,
        _ attempt: GroupAttempt,
        _ outcome: inout Outcome
    ) throws(StoreError) -> Bool {
        guard let first = batch.first else { return true }
        do throws(StoreError) {
            writer.origin = first.origin
            outcome.resumptions += try first.perform(batch, writer)
            outcome.successes += batch.count
            return true
        } catch {
            try attempt.check(error, writer.session.connection)
            guard outcome.successes == 0, batch.count == 1 else { return false }
            try writer.session.connection.run("ROLLBACK")
            try begin(writer, attempt)
            writer.forgetNotes(after: 0)
            let failure = GroupAttempt.writeFailure(error)
            outcome.resumptions.append { first.fail(failure) }
            return true
        }
    }

    /// Runs a batch in a savepoint; one that fails is undone, divided and run again, until
    /// what fails is one write.
    private func runInSavepoint(
        _ batch: ArraySlice<any QueuedWrite>,
        _ writer: SQLWriter,
        _ attempt: GroupAttempt,
        _ outcome: inout Outcome
    ) throws(StoreError) {
        guard let first = batch.first else { return }
        let connection = writer.session.connection
        let noteCount = writer.noteCount
        try connection.run("SAVEPOINT intent")
        do throws(StoreError) {
            writer.origin = first.origin
            let resumptions = try first.perform(batch, writer)
            // A statement that nobody had waited for may fail here.
            try connection.run("RELEASE intent")
            outcome.resumptions += resumptions
            outcome.successes += batch.count
            return
        } catch {
            try attempt.check(error, connection)
            if error.isBlocked { outcome.blocked += 1 }
            guard outcome.blocked <= GroupAttempt.mostBlocked else { throw error }
            try connection.run("ROLLBACK TO intent")
            try connection.run("RELEASE intent")
            writer.forgetNotes(after: noteCount)
            guard batch.count > 1 else {
                let failure = GroupAttempt.writeFailure(error)
                return outcome.resumptions.append { first.fail(failure) }
            }
        }
        let middle = batch.startIndex + batch.count / 2
        try runInSavepoint(batch[..<middle], writer, attempt, &outcome)
        try runInSavepoint(batch[middle...], writer, attempt, &outcome)
    }

    /// Commits what has succeeded; answers whom to tell.
    private func end(_ outcome: Outcome, _ writer: SQLWriter) throws(StoreError) -> [() -> Void] {
        let connection = writer.session.connection
        guard outcome.successes > 0 else {
            try connection.run("ROLLBACK")
            return outcome.resumptions
        }
        writer.serial = try thread.settings.journal?.write(writer.events, writer.session)
        let start = ContinuousClock.now
        try connection.run("COMMIT")
        let time = ContinuousClock.now - start
        thread.statistics.withLock { statistics in
            statistics.commits += 1
            statistics.committedWrites += outcome.successes
            statistics.commitTime += time
        }
        if let metrics = thread.settings.metrics {
            metrics.committed.add()
            metrics.commitTime.record(time)
            metrics.groupWrites.record(size: outcome.successes)
        }
        return outcome.resumptions
    }
}

extension WriterLoop {
    /// Reads the numbers of messages that are stored, where the answers that told them were
    /// lost with the connection.
    private mutating func complete(_ writer: SQLWriter) throws(StoreError) {
        for messages in writer.unnumbered {
            do throws(StoreError) {
                try messages.read(from: SQLReader(session: try currentSession()))
            } catch {
                throw .uncertain(
                    reason:
                        "the database went away while this was committed: it is stored, and its number is not known. "
                        + "Repeating it with the same id or key is safe",
                    detail: error.description
                )
            }
        }
    }

    /// Forgets that groups were refused once none is any more and a row can be written: on a full
    /// disk a small group, or one that had nothing to write, is committed all the same.
    private mutating func endRefusal(_ writer: SQLWriter) {
        guard let refusal = thread.statistics.withLock({ $0.refusal }),
            ContinuousClock.now - refusal.last >= thread.settings.refusalEndsAfter
        else { return }
        let connection = writer.session.connection
        do throws(StoreError) {
            try connection.run(writer.session.dialect.beginWriting())
            try connection.run("UPDATE migrations SET name = name WHERE number = 1")
            try connection.run("COMMIT")
            thread.statistics.withLock { $0.refusal = nil }
        } catch {
            abandon()
        }
    }

    /// Tells the observer, and the journal's reader, what was committed.
    private func tell(_ writer: SQLWriter) {
        let events = writer.events
        if let serial = writer.serial { thread.settings.journal?.keep(events, of: serial) }
        if !events.isEmpty { thread.observer(events) }
    }
}

extension WriterLoop {
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
            // The log is complete without a checkpoint: a failure here only
            // leaves it for the next start.
            try? connection.checkpoint()
        }
        connection.close()
        session = nil
    }
}
