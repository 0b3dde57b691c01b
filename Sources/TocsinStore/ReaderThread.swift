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

    /// Reads until the queue is closed and empty.
    func run() {
        var session: SQLSession?
        while let intent = queue.take(upTo: 1).first {
            do throws(StoreError) {
                let current: SQLSession
                if let open = session { current = open } else { current = try connect() }
                session = current
                let resume = try read(intent, current)
                resume()
            } catch {
                intent.fail(error)
                session?.connection.close()
                session = nil
            }
        }
        session?.connection.close()
        readers.arrive()
    }

    private func connect() throws(StoreError) -> SQLSession {
        SQLSession(connection: try database.connect(.reader), dialect: database.dialect)
    }

    /// Runs the closure over one snapshot.
    private func read(_ intent: ReadIntent, _ session: SQLSession) throws(StoreError) -> @Sendable () -> Void {
        try session.connection.run(session.dialect.beginReading)
        let resume = intent.run(SQLReader(session: session))
        // A failed statement may have ended the transaction.
        if session.connection.isInTransaction { try session.connection.run("ROLLBACK") }
        return resume
    }
}
