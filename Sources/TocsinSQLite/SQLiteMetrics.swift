import CSQLite
import Glibc
import Metrics

/// What is counted of a database file, shared by all copies of its value.
final class SQLiteMetrics: MetricSource {
    /// How far a checkpoint copied the log to the main file.
    enum CheckpointResult: String, MetricLabel {
        static let labelName = "result"
        /// `partial`: readers still needed older pages; `busy`: nothing could be copied.
        case full, partial, busy
    }

    private let path: String
    private let checkpoints = CounterSet<CheckpointResult>()
    private let checkpointTime = Histogram(bounds: Histogram.fast)

    init(path: String) { self.path = path }

    /// Counts a checkpoint that left so many of the log's pages uncopied.
    func note(_ outcome: Int32, pages: Int32, copied: Int32, took time: Duration) {
        checkpointTime.record(time)
        let result: CheckpointResult = outcome != SQLITE_OK || pages < 0 ? .busy : copied < pages ? .partial : .full
        checkpoints[result].add()
    }

    var families: [MetricFamily] {
        [
            .gauge("tocsin_sqlite_wal_bytes", "Size of the write-ahead log", Self.bytes(path + "-wal") ?? 0),
            .histogram(
                "tocsin_sqlite_checkpoint_duration_seconds",
                "Time that checkpoints took",
                checkpointTime
            ),
            .counter("tocsin_sqlite_checkpoints_total", "Checkpoints, by how far they came", checkpoints),
            .gauge("tocsin_sqlite_database_bytes", "Size of the database file", Self.bytes(path)),
            .gauge("tocsin_sqlite_free_bytes", "Free space of the database's file system", freeBytes),
        ]
    }

    private static func bytes(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// What this user may still write.
    private var freeBytes: Int? {
        var status = statvfs()
        return statvfs(path, &status) == 0 ? Int(clamping: status.f_bavail) * Int(clamping: status.f_frsize) : nil
    }
}

extension SQLiteConnection {
    /// Checkpoints after commits as SQLite does by itself, once the log has so many pages, and
    /// counts what came of it.
    func checkpoint(fromPages pages: Int32, counting metrics: SQLiteMetrics) {
        let checkpointing = Checkpointing(pages: pages, metrics: metrics)
        self.checkpointing = checkpointing
        setLogHook(
            { context, handle, _, pages in
                if let context { Unmanaged<Checkpointing>.fromOpaque(context).takeUnretainedValue().run(handle, pages) }
                return SQLITE_OK
            },
            Unmanaged.passUnretained(checkpointing).toOpaque()
        )
    }
}

/// When a connection checkpoints; kept as long as it.
final class Checkpointing {
    private let pages: Int32
    private let metrics: SQLiteMetrics

    fileprivate init(pages: Int32, metrics: SQLiteMetrics) { (self.pages, self.metrics) = (pages, metrics) }

    /// A failure leaves the log as it is, for the next commit.
    fileprivate func run(_ handle: OpaquePointer?, _ logged: Int32) {
        guard logged >= pages else { return }
        let start = ContinuousClock.now
        var (all, copied) = (Int32(-1), Int32(-1))
        let outcome = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &all, &copied)
        metrics.note(outcome, pages: all, copied: copied, took: .now - start)
    }
}
