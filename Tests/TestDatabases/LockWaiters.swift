package import TocsinStore

extension SQLDatabase {
    /// Waits until so many sessions of this database, on PostgreSQL, wait
    /// for another's row or lock.
    package func waitForWaiters(_ count: Int64 = 1) async throws {
        let watcher = try connect(.reader)
        defer { watcher.close() }
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        let end = ContinuousClock.now + .seconds(100)
        while try watcher.first(waiting, [], { $0.int(0) }) != count {
            guard ContinuousClock.now < end else { throw NobodyWaits(count: count) }
            await Task.yield()
        }
    }
}

private struct NobodyWaits: Error, CustomStringConvertible {
    let count: Int64
    var description: String { "\(count) sessions never waited for a lock." }
}
