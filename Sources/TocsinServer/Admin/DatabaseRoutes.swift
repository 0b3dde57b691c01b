import GraphQLTransport
import HTTPTypes
import JSON
import Logging
import Metrics
import Synchronization
import TocsinCore
import TocsinHTTP
import TocsinSQLite
import TocsinStore

/// `POST /admin/checkpoint`: brings SQLite's log into the main file.
struct CheckpointRoute: AdminRoute {
    let method = HTTPRequest.Method.post
    let path = "/admin/checkpoint"
    let access = AdminAccess.operators
    let store: SQLStore
    let database: DatabaseAddress

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        guard case .sqlite(let file) = database else {
            let text = "PostgreSQL keeps its log itself. Only SQLite's is brought into its file by Tocsin."
            return AdminAnswer.error(.conflict, .conflict, text)
        }
        let before = SystemFile.size(of: file + "-wal") ?? 0
        do throws(StoreError) {
            try await store.checkpoint()
        } catch {
            return AdminAnswer.error(.serviceUnavailable, .unavailable, "The log stays as it is: \(error.description)")
        }
        return AdminAnswer.json([
            "logBytesBefore": .int(Int64(before)), "logBytes": .int(Int64(SystemFile.size(of: file + "-wal") ?? 0)),
            "databaseBytes": .int(Int64(SystemFile.size(of: file) ?? 0)),
        ])
    }
}

/// `POST /admin/backup`: `{"file": "/path", "replace": false}` copies SQLite's database while the
/// server runs.
struct BackupRoute: AdminRoute {
    let method = HTTPRequest.Method.post
    let path = "/admin/backup"
    let access = AdminAccess.operators
    let database: DatabaseAddress
    let backups: RunningBackup
    let time: any TimeSource
    let logger: Logger

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        guard case .sqlite(let source) = database else {
            let text =
                "PostgreSQL is backed up by its own tools (pg_dump, pg_basebackup), or by `tocsin export`. Only SQLite's file "
                + "is copied by Tocsin."
            return AdminAnswer.error(.conflict, .conflict, text)
        }
        guard let members = request.adminMembers(["file", "replace"]), let file = members["file"]?.stringValue,
            file.hasPrefix("/"), !file.utf8.contains(0), file.utf8.count < 4096
        else {
            let text = "Send {\"file\": \"/path/of/the/copy\"}, as a path from the root of the server's machine."
            return AdminAnswer.error(.badRequest, .badUserInput, text)
        }
        let backup = SQLiteBackup(
            of: source,
            to: file,
            replaces: members["replace"]?.boolValue ?? false,
            onlyCopies: true
        )
        guard backups.begin() else {
            return AdminAnswer.error(.conflict, .conflict, "Another backup is being made. Wait for its end.")
        }
        defer { backups.end() }
        let start = ContinuousClock.now
        do throws(StoreError) {
            try await withThread("backup") { [backups] () throws(StoreError) in
                try backup.run(isStopped: { backups.isStopped })
            }
        } catch {
            return refused(error, file)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let bytes = SystemFile.size(of: file) ?? 0
        backups.made(bytes: bytes, at: time.now())
        logger.notice(
            "a backup was made",
            metadata: ["event": "backup_made", "file": "\(file)", "bytes": .stringConvertible(bytes)]
        )
        return AdminAnswer.json([
            "file": .string(file), "bytes": .int(Int64(bytes)), "seconds": .double((seconds * 1000).rounded() / 1000),
        ])
    }

    private func refused(_ error: StoreError, _ file: String) -> OutgoingResponse {
        switch error {
        case .mismatch(let reason): return AdminAnswer.error(.conflict, .conflict, reason)
        case .stopped:
            let text = "The server is stopping; nothing was written to \(file)."
            return AdminAnswer.error(.serviceUnavailable, .unavailable, text)
        default:
            logger.error(
                "a backup failed",
                metadata: ["event": "backup_failed", "file": "\(file)", "reason": "\(error)"]
            )
            return AdminAnswer.error(.serviceUnavailable, .unavailable, error.description)
        }
    }
}

/// Lets one backup at a time be made, and none once the server stops; counts those that were made.
final class RunningBackup: MetricSource {
    private let running = Atomic(false)
    private let stopped = Atomic(false)
    private let bytes = Counter()
    /// Unix milliseconds; 0: never.
    private let madeAt = Gauge()

    /// Whether a backup may begin.
    func begin() -> Bool { !isStopped && !running.exchange(true, ordering: .acquiringAndReleasing) }

    func end() { running.store(false, ordering: .releasing) }

    /// One was made, of so many bytes.
    func made(bytes count: Int, at now: Timestamp) {
        bytes.add(count)
        madeAt.set(Int(now.milliseconds))
    }

    var families: [MetricFamily] {
        let milliseconds = madeAt.value
        return [
            .gauge(
                "tocsin_backup_last_success_timestamp_seconds",
                "When `tocsin admin backup` last made a copy; absent before it has",
                milliseconds > 0 ? Double(milliseconds) / 1000 : nil
            ),
            .counter("tocsin_backup_bytes_total", "Bytes of the copies that `tocsin admin backup` made", bytes),
        ]
    }

    /// The one that runs ends, and leaves nothing behind.
    func stop() { stopped.store(true, ordering: .relaxed) }

    var isStopped: Bool { stopped.load(ordering: .relaxed) }
}
