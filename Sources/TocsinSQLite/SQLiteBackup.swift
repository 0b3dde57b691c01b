import CSQLite
import Glibc
package import TocsinCore

/// A copy of a database, made beside a running server through SQLite's backup interface.
///
/// The copy is of one moment. A read transaction is held on the source, so no write makes the
/// copying begin again, and no writer waits for it; the source's log only grows until the copy is
/// done. Nothing is checkpointed. The copy is written under another name, then checked and
/// synchronised, before it takes its own.
package struct SQLiteBackup: Sendable {
    /// How far the copying is.
    package struct Progress: Sendable, Hashable {
        /// Pages copied so far.
        package var copiedPages: Int
        /// Pages of the source.
        package var pages: Int
    }

    private let source: String
    private let destination: String
    private let replaces: Bool
    private let onlyCopies: Bool
    /// Pages copied without a pause: 2 MiB of the usual size.
    private let pagesAtOnce: Int32
    private static let longestPauseMicroseconds: Int64 = 50_000
    private static let busyTimeoutMilliseconds: Int32 = 10_000

    /// - Parameters:
    ///   - replaces: Whether a file that has the destination's name may go.
    ///   - onlyCopies: Whether it may go only if it is a database, or empty.
    package init(
        of source: String,
        to destination: String,
        replaces: Bool,
        onlyCopies: Bool = false,
        pagesAtOnce: Int32 = 512
    ) {
        self.onlyCopies = onlyCopies
        self.source = source
        self.destination = destination
        self.replaces = replaces
        self.pagesAtOnce = pagesAtOnce
    }

    /// Makes the copy; throws `stopped` when `isStopped` says so, and leaves
    /// nothing behind when it fails.
    package func run(
        isStopped: () -> Bool = { false },
        report: (Progress) -> Void = { _ in }
    ) throws(StoreError) {
        try check()
        let part = destination + ".\(getpid()).part"
        try makeFile(part)
        do throws(StoreError) {
            try copy(to: part, isStopped, report)
            try CopiedDatabase(path: part).settle()
            try synchronise(part, flags: O_RDWR)
            try takeName(part)
        } catch {
            for suffix in ["", "-journal", "-wal", "-shm"] { unlink(part + suffix) }
            throw error
        }
    }

    private func check() throws(StoreError) {
        var (original, other) = (stat(), stat())
        let isThere = stat(source, &original) == 0
        guard isThere || errno != EACCES else {
            throw .mismatch(
                reason: "This user may not look into the folder of \(source). Run the command as the server's user."
            )
        }
        guard isThere, original.st_mode & S_IFMT == S_IFREG else {
            throw .mismatch(reason: "There is no database at \(source). Name it with --data-dir or --database.")
        }
        let name = destination.split(separator: "/").last ?? ""
        let own = source.split(separator: "/").last ?? ""
        // What SQLite and this server keep beside the database.
        for suffix in ["-wal", "-shm", "-journal", ".lock"] where name == own + suffix {
            throw .mismatch(reason: "\(destination) has the name of a file beside a database. Name another file.")
        }
        guard stat(destination, &other) == 0 else { return }
        guard other.st_mode & S_IFMT == S_IFREG else {
            throw .mismatch(reason: "\(destination) is not a file. Name the file that the backup is to become.")
        }
        guard original.st_dev != other.st_dev || original.st_ino != other.st_ino else {
            throw .mismatch(reason: "\(destination) is the database itself. Name another file.")
        }
        guard replaces else {
            throw .mismatch(reason: "\(destination) is there already. Name another file, or say --force to replace it.")
        }
        guard onlyCopies, other.st_size > 0 else { return }
        guard try isDatabase(destination) else {
            throw .mismatch(reason: "\(destination) is no database, and stays as it is. Name another file.")
        }
    }

    private func isDatabase(_ path: String) throws(StoreError) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("the file there cannot be read", path) }
        defer { close(descriptor) }
        let mark = Array("SQLite format 3\0".utf8)
        var head = [UInt8](repeating: 0, count: mark.count)
        return read(descriptor, &head, head.count) == mark.count && head == mark
    }

    private func makeFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0, [ENOENT, ENOTDIR, EACCES, EROFS].contains(errno) {
            // The name is wrong, and nothing of the database.
            throw .mismatch(
                reason: "The backup cannot be written (\(path): \(String(cString: strerror(errno)))). "
                    + "Name a file in a folder that is there, and that this user may write."
            )
        }
        guard descriptor >= 0 else { throw Self.failure("the backup cannot be written", path) }
        close(descriptor)
    }

    private func synchronise(_ path: String, flags: Int32) throws(StoreError) {
        let descriptor = open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("the backup cannot be synchronised", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Self.failure("the backup cannot be synchronised", path) }
    }

    /// Gives the finished copy its name, which nobody may have taken
    /// meanwhile unless that is allowed.
    private func takeName(_ part: String) throws(StoreError) {
        if !replaces, link(part, destination) == 0 {
            unlink(part)
        } else if !replaces, errno == EEXIST {
            throw .mismatch(reason: "\(destination) has appeared meanwhile. Name another file.")
        } else {
            // A file system without links.
            guard rename(part, destination) == 0 else { throw Self.failure("the backup cannot be named", destination) }
        }
        let folder = destination.lastIndex(of: "/").map { String(destination[...$0]) } ?? "."
        try synchronise(folder, flags: O_RDONLY | O_DIRECTORY)
    }

    private static func failure(_ reason: String, _ path: String) -> StoreError {
        .unavailable(reason: reason, detail: "\(path): \(String(cString: strerror(errno)))")
    }

    private func copy(
        to part: String,
        _ isStopped: () -> Bool,
        _ report: (Progress) -> Void
    ) throws(StoreError) {
        let original = try BackupHandle(path: source, flags: SQLITE_OPEN_READONLY)
        defer { original.close() }
        sqlite3_busy_timeout(original.pointer, Self.busyTimeoutMilliseconds)
        // A transaction begins with its first read; from there on its pages stay.
        try original.execute("PRAGMA wal_autocheckpoint = 0; BEGIN; SELECT count(*) FROM sqlite_schema")
        let copy = try BackupHandle(path: part, flags: SQLITE_OPEN_READWRITE)
        defer { copy.close() }
        // What is half written is thrown away, so nothing guards it; it is synchronised as a whole.
        try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        guard let backup = sqlite3_backup_init(copy.pointer, "main", original.pointer, "main") else {
            throw copy.failure(sqlite3_errcode(copy.pointer), "backup")
        }
        var code = SQLITE_OK
        while code == SQLITE_OK, !isStopped() {
            let start = ContinuousClock.now
            code = sqlite3_backup_step(backup, pagesAtOnce)
            let pages = Int(sqlite3_backup_pagecount(backup))
            report(Progress(copiedPages: pages - Int(sqlite3_backup_remaining(backup)), pages: pages))
            if code == SQLITE_OK { Self.pause(after: ContinuousClock.now - start) }
        }
        let end = sqlite3_backup_finish(backup)
        guard code != SQLITE_OK else { throw .stopped }
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw original.failure(code == SQLITE_DONE ? end : code, "backup")
        }
    }

    /// Leaves the disk to others for as long as it was used.
    private static func pause(after step: Duration) {
        let used = step.components.seconds * 1_000_000 + step.components.attoseconds / 1_000_000_000_000
        usleep(UInt32(clamping: min(used, longestPauseMicroseconds)))
    }
}

/// A finished copy that is not yet shown.
private struct CopiedDatabase {
    let path: String

    /// Makes it one file, without a log beside it, and checks it as a whole.
    func settle() throws(StoreError) {
        let copy = try BackupHandle(path: path, flags: SQLITE_OPEN_READWRITE)
        defer { copy.close() }
        try copy.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE")
        let found = try copy.firstColumn("PRAGMA integrity_check(10)")
        guard found == ["ok"] else {
            throw .mismatch(
                reason: "The copy is damaged, and so is probably the database: \(found.joined(separator: "; ")). "
                    + "Keep the last good backup."
            )
        }
        guard try copy.firstColumn("PRAGMA foreign_key_check").isEmpty else {
            throw .mismatch(reason: "The copy has rows that refer to absent ones; so has the database.")
        }
    }
}

/// A bare connection: no settings of the store's, no prepared statements.
private final class BackupHandle {
    private(set) var pointer: OpaquePointer?

    init(path: String, flags: Int32) throws(StoreError) {
        let code = sqlite3_open_v2(path, &pointer, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK else {
            let error = failure(code, path)
            close()
            throw error
        }
    }

    deinit { close() }

    func execute(_ script: String) throws(StoreError) {
        let code = sqlite3_exec(pointer, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, script) }
    }

    func firstColumn(_ sql: String) throws(StoreError) -> [String] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_prepare_v2(pointer, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw failure(code, sql) }
        var texts: [String] = []
        code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            texts.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw failure(code, sql) }
        return texts
    }

    func failure(_ code: Int32, _ sql: String) -> StoreError {
        let message = pointer.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        return SQLiteFailure.storeError(code: code, message: message, sql: sql)
    }

    func close() {
        sqlite3_close_v2(pointer)
        pointer = nil
    }
}
