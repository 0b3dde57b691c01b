import CSQLite
import Glibc
package import Metrics
package import TocsinCore
package import TocsinStore

/// A SQLite file: write-ahead log, synchronised at each commit.
package struct SQLiteDatabase: SQLDatabase {
    /// The file's path.
    package let path: String
    /// SQLite's.
    package let dialect = Dialect.sqlite
    /// How long a statement waits for another process that writes.
    ///
    /// A write may wait for a whole group before its own. Twice this is less than a request may
    /// take, so that its caller is told why it failed.
    package var busyTimeoutMilliseconds: Int32 = 2000
    /// How long a statement of a reader may run: filters of clients can make it walk a whole table.
    package var readLimitMilliseconds: Int64 = 5000
    /// Pages of the log after which a commit copies them to the main file: 16 MiB.
    ///
    /// Pages that change often are seldom copied.
    package var checkpointPages: Int32 = 4000
    /// Removes the folder of a temporary database when the last copy of this value, and
    /// the last connection, goes.
    private let folder: TemporaryFolder?
    private let counts: SQLiteMetrics

    /// The database in this file; the file is made when it is absent, its folder is not.
    package init(path: String) {
        self.path = path
        folder = nil
        counts = SQLiteMetrics(path: path)
    }

    private init(folder: TemporaryFolder) {
        path = folder.path + "/tocsin.sqlite"
        self.folder = folder
        counts = SQLiteMetrics(path: path)
    }

    /// An empty database in a folder of its own, which is removed with it.
    ///
    /// The folder is in `parent`, or in memory where the system has a file system there.
    package static func temporary(in parent: String? = nil) throws(StoreError) -> SQLiteDatabase {
        let memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        return SQLiteDatabase(folder: try TemporaryFolder(in: parent ?? memory))
    }

    /// Name and version of the linked library.
    package var version: String { "SQLite " + String(cString: sqlite3_libversion()) }

    /// The file's sizes, and what its checkpoints did.
    package var metrics: (any MetricSource)? { counts }

    /// Opens a connection to the file, which is made when a writer finds none.
    package func connect(_ use: ConnectionUse) throws(StoreError) -> any SQLConnection {
        if use != .reader { makeFile() }
        let connection = try SQLiteConnection(
            path: path,
            readLimitMilliseconds: use == .reader ? readLimitMilliseconds : nil,
            folder: folder
        )
        do throws(StoreError) {
            try configure(connection, for: use)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// Takes the lock beside the file; throws when another server has it.
    package func claimServer() throws(StoreError) -> (any ServerClaim)? {
        try LockFile(path: path + ".lock")
    }

    /// Makes an absent file so that only its owner can read it; the files
    /// beside it take its rights.
    ///
    /// A file that is there is not opened: closing it again would drop the locks that SQLite
    /// holds on it in this process.
    private func makeFile() {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Applies the settings and reads them back, because SQLite answers a refused one with silence.
    private func configure(_ connection: SQLiteConnection, for use: ConnectionUse) throws(StoreError) {
        var settings = [
            ("busy_timeout", "\(busyTimeoutMilliseconds)", "\(busyTimeoutMilliseconds)"),
            ("foreign_keys", "ON", "1"),
            ("temp_store", "MEMORY", "2"),
            // Before SQLite 3.51.3 a checkpoint beside a writer can corrupt the log: one
            // connection alone does both.
            ("wal_autocheckpoint", "0", "0"),
        ]
        if use != .reader {
            settings.append(("journal_mode", "WAL", "wal"))
            settings.append(("synchronous", "FULL", "2"))
            settings.append(("journal_size_limit", "67108864", "67108864"))
        }
        for (name, value, expected) in settings {
            try connection.execute(script: "PRAGMA \(name) = \(value)")
            let actual = try connection.first("PRAGMA \(name)") { $0.text(0) } ?? ""
            guard actual == expected else {
                throw .mismatch(
                    reason:
                        "SQLite keeps \(name) at \(actual) where \(expected) is needed. Is \(path) on a file system "
                        + "with shared memory and locks (not a network mount)?"
                )
            }
        }
        if use == .writer { connection.checkpoint(fromPages: checkpointPages, counting: counts) }
    }
}

/// Holds the lock beside a database for its one server.
///
/// The lock is the kernel's (`flock`) and goes with the process, however that ends; the file stays.
final class LockFile: ServerClaim {
    private let descriptor: Int32

    init(path: String) throws(StoreError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unavailable(
                reason: "the lock file cannot be opened",
                detail: "\(path): \(String(cString: strerror(errno))). Does its folder exist, and may this user write "
                    + "there?"
            )
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            guard code == EWOULDBLOCK else {
                throw .unavailable(
                    reason: "the lock file cannot be locked",
                    detail: "\(path): \(String(cString: strerror(code)))"
                )
            }
            throw .mismatch(
                reason: "A server is running on this database, or an import is: it holds \(path). Stop it first, or "
                    + "name another database."
            )
        }
    }

    func release() { Glibc.close(descriptor) }
}

/// A folder that is removed with the last reference to it.
private final class TemporaryFolder: Sendable {
    let path: String

    init(in parent: String) throws(StoreError) {
        var template = Array((parent + "/tocsin-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .unavailable(
                reason: "no folder can be made",
                detail: "\(parent): \(String(cString: strerror(errno)))"
            )
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for suffix in ["", "-wal", "-shm", "-journal", ".lock"] { unlink(path + "/tocsin.sqlite" + suffix) }
        rmdir(path)
    }
}
