import FoundationEssentials
import Glibc
import TocsinServer

/// A folder of posts that wait, one file each, whose names are their order.
///
/// What `add` has returned for is on the disk: a crash of the program or of the machine keeps it.
/// Writers and senders have a lock each, so that adding never waits for a server.
struct Spool {
    /// Why nothing could be added or read.
    enum Failure: Error {
        /// There is no room for more.
        case full(files: Int, bytes: Int)
        /// The folder, its locks or the disk refuse.
        case unusable(reason: String)

        /// What the system said last, after what was tried.
        static func ofSystem(_ what: String) -> Failure {
            .unusable(reason: "\(what): \(String(cString: strerror(errno)))")
        }
    }

    /// The path of the folder.
    let folder: String

    /// The most that waits at once.
    static let maximumFiles = 10_000
    /// The most that waits at once, in bytes.
    static let maximumBytes = 64 << 20
    /// The most refused posts that are kept; the oldest go first.
    static let maximumRefused = 1000
    /// The longest post with its head.
    static let maximumEntryBytes = 2 << 20

    private static let ending = ".post"
    /// Of what is being written, which no sender may see.
    private static let draftEnding = ".draft"
    private static let reasonEnding = ".reason"
    private static let patience: Duration = .seconds(10)

    /// Where refused posts lie, each with its reason beside it.
    var refusedFolder: String { folder + "/refused" }
    private var writersLock: String { folder + "/.writing" }
    private var sendersLock: String { folder + "/.sending" }

    /// Writes a post behind all others and gives its name.
    func add(_ entry: SpoolEntry) async throws(Failure) -> String {
        try makeFolder()
        let lock = try await SpoolLock.wait(writersLock, until: .now + Self.patience)
        defer { withExtendedLifetime(lock) {} }
        removeDrafts()
        let bytes = entry.bytes
        let names = try names()
        let size = names.reduce(0) { $0 + (Self.size(of: folder + "/" + $1) ?? 0) }
        guard names.count < Self.maximumFiles, size + bytes.count <= Self.maximumBytes else {
            throw .full(files: names.count, bytes: size)
        }
        let name = Self.name(after: names.last)
        try write(bytes, to: name)
        return name
    }

    /// The names of what waits, in order.
    func names() throws(Failure) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(Self.ending) }
                .sorted()
        } catch {
            throw .unusable(reason: "\(folder) cannot be read")
        }
    }

    /// The right to send and to remove; nil: another process has it.
    func takeSendersLock() throws(Failure) -> SpoolLock? { try SpoolLock.take(sendersLock) }

    /// A file of the spool as it was found.
    enum Finding {
        /// A post, and the user who wrote it.
        case entry(SpoolEntry, owner: UInt32)
        /// It is gone.
        case gone
        /// This user may not read it.
        case unreadable(reason: String)
        /// No program of ours has written this.
        case strange
    }

    /// What lies under a name.
    func read(_ name: String) -> Finding {
        let file = open(folder + "/" + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            switch errno {
            case ENOENT: return .gone
            case ELOOP: return .strange
            default: return .unreadable(reason: String(cString: strerror(errno)))
            }
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .strange }
        guard status.st_size <= Self.maximumEntryBytes else { return .strange }
        do throws(SystemFile.Failure) {
            let bytes = try SystemFile.rest(of: file, maximumBytes: Self.maximumEntryBytes)
            return SpoolEntry(bytes).map { .entry($0, owner: status.st_uid) } ?? .strange
        } catch {
            return .unreadable(reason: error.reason)
        }
    }

    /// Takes away what was sent.
    func remove(_ name: String) { unlink(folder + "/" + name) }

    /// Puts what will never be taken aside, with the reason.
    ///
    /// The folder is held open: others who may write in the spool could put a link in its place.
    func refuse(_ name: String, reason: String) throws(Failure) {
        if mkdir(refusedFolder, 0o770) == 0 { chmod(refusedFolder, Self.mode(of: folder)) }
        let place = open(refusedFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard place >= 0 else { throw .ofSystem("\(refusedFolder) cannot be used") }
        defer { close(place) }
        Self.write(reason, to: name + Self.reasonEnding, in: place)
        guard renameat(AT_FDCWD, folder + "/" + name, place, name) == 0 else {
            throw .ofSystem("\(name) cannot be moved to \(refusedFolder)")
        }
        fsync(place)
        Self.synchronise(folder)
        let kept = (try? FileManager.default.contentsOfDirectory(atPath: refusedFolder)) ?? []
        for old in kept.filter({ $0.hasSuffix(Self.ending) }).sorted().dropLast(Self.maximumRefused) {
            unlinkat(place, old, 0)
            unlinkat(place, old + Self.reasonEnding, 0)
        }
    }

    /// Without its reason a refused post is still better aside than first in the row.
    private static func write(_ reason: String, to name: String, in place: Int32) {
        let file = openat(place, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard file >= 0 else { return }
        try? SystemFile.write(Array((reason + "\n").utf8), to: file)
        fsync(file)
        close(file)
    }

    private func makeFolder() throws(Failure) {
        guard mkdir(folder, 0o700) != 0 else {
            Self.synchronise(String(folder[...(folder.lastIndex(of: "/") ?? folder.startIndex)]))
            return
        }
        guard errno != EEXIST else { return }
        throw .ofSystem("\(folder) cannot be made")
    }

    /// What a process left that was killed while it wrote: nobody was told of it.
    private func removeDrafts() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasSuffix(Self.draftEnding) { unlink(folder + "/" + name) }
    }

    /// Microseconds since 1970, or one more than the last where the clock went back.
    private static func name(after last: String?) -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let time = UInt64(max(0, now.tv_sec)) * 1_000_000 + UInt64(now.tv_nsec / 1000)
        let number = max(time, last.flatMap { UInt64($0.dropLast(ending.count)) }.map { $0 &+ 1 } ?? 0)
        let digits = String(number)
        return String(repeating: "0", count: 20 - digits.count) + digits + ending
    }

    private func write(_ bytes: [UInt8], to name: String) throws(Failure) {
        let (draft, place) = (folder + "/" + name + Self.draftEnding, folder + "/" + name)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard file >= 0 else { throw .ofSystem("\(draft) cannot be made") }
        defer { close(file) }
        do throws(SystemFile.Failure) {
            try SystemFile.write(bytes, to: file)
        } catch {
            unlink(draft)
            throw .unusable(reason: "\(draft) cannot be written: \(error.reason)")
        }
        // The folder's group sends it, whatever the umask says.
        guard fchmod(file, 0o640) == 0, fsync(file) == 0, rename(draft, place) == 0 else {
            let failure = Failure.ofSystem("\(place) cannot be written")
            unlink(draft)
            throw failure
        }
        Self.synchronise(folder)
    }

    private static func size(of path: String) -> Int? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    private static func mode(of folder: String) -> mode_t {
        var status = stat()
        return stat(folder, &status) == 0 ? status.st_mode & 0o7777 : 0o700
    }

    /// A folder's entries are what a power cut could take back.
    private static func synchronise(_ folder: String) {
        let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
