import Metrics
import TocsinCore

/// A thread with a connection that reads.
struct ReaderThread: Sendable {
    let database: any SQLDatabase
    /// Waits for the next read, given the one that has ended; nil when there will be none.
    let next: @Sendable (_ ended: ReadIntent?) -> ReadIntent?
    let readers: Countdown
    let opening: Opening
    let metrics: StoreMetrics?

    /// Reads until there is nothing left to read.
    func run() {
        var session: SQLSession?
        var ended: ReadIntent?
        while let intent = next(ended) {
            ended = intent
            let begin = metrics.map { _ in ContinuousClock.now }
            defer { note(intent, begin) }
            do throws(StoreError) {
                try opening.check()
                try serve(intent, &session)
            } catch {
                intent.fail(intent.cancellation.isSet ? .stopped : error)
                session?.connection.close()
                session = nil
            }
        }
        session?.connection.close()
        readers.arrive()
    }

    /// Counts a read that has ended.
    private func note(_ intent: ReadIntent, _ begin: ContinuousClock.Instant?) {
        guard let metrics, let begin, let askedAt = intent.askedAt else { return }
        metrics.readWait.record(begin - askedAt)
        metrics.readTime.record(.now - begin)
    }

    /// Answers an intent; once more from the start when a connection that was
    /// kept turns out to be lost.
    private func serve(_ intent: ReadIntent, _ session: inout SQLSession?) throws(StoreError) {
        guard !intent.cancellation.isSet else { return intent.fail(.stopped) }
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
        connection.watch(intent.cancellation)
        defer { connection.watch(nil) }
        do throws(StoreError) {
            try connection.run(session.dialect.beginReading)
            let resume = intent.run(SQLReader(session: session))
            connection.watch(nil)
            // A failed statement may have ended the transaction.
            if connection.isInTransaction { try connection.run("ROLLBACK") }
            return connection.isLost ? nil : resume
        } catch {
            guard connection.isLost else { throw error }
            return nil
        }
    }
}
