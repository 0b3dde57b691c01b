import TocsinCore

/// A read that waits for a thread.
struct ReadIntent: Sendable {
    /// Runs the closure; answers what to call once the snapshot is let go.
    let run: @Sendable (SQLReader) -> @Sendable () -> Void
    let fail: @Sendable (StoreError) -> Void
}

/// A thread with a connection that reads.
struct ReaderThread: Sendable {
    let database: any SQLDatabase
    let queue: WorkQueue<ReadIntent>
    let readers: Countdown
    let opening: Opening

    /// Reads until the queue is closed and empty.
    func run() {
        var session: SQLSession?
        while let intent = queue.take(upTo: 1).first {
            do throws(StoreError) {
                try opening.check()
                try serve(intent, &session)
            } catch {
                intent.fail(error)
                session?.connection.close()
                session = nil
            }
        }
        session?.connection.close()
        readers.arrive()
    }

    /// Answers an intent; once more from the start when a connection that was kept turns out to be lost.
    private func serve(_ intent: ReadIntent, _ session: inout SQLSession?) throws(StoreError) {
        if let kept = session {
            if let resume = try read(intent, kept) { return resume() }
            kept.connection.close()
            session = nil
        }
        let fresh = SQLSession(connection: try database.connect(.reader), dialect: database.dialect)
        session = fresh
        guard let resume = try read(intent, fresh) else {
            throw .unavailable(reason: "the connection to the database was lost")
        }
        resume()
    }

    /// Runs the closure over one snapshot; nil when the connection was lost on the way.
    private func read(_ intent: ReadIntent, _ session: SQLSession) throws(StoreError) -> (@Sendable () -> Void)? {
        let connection = session.connection
        do throws(StoreError) {
            try connection.run(session.dialect.beginReading)
            let resume = intent.run(SQLReader(session: session))
            // A failed statement may have ended the transaction.
            if connection.isInTransaction { try connection.run("ROLLBACK") }
            return connection.isLost ? nil : resume
        } catch {
            guard connection.isLost else { throw error }
            return nil
        }
    }
}
