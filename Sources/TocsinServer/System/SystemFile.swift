import Glibc

/// Files by the system's own calls; Foundation's would link 34 MB of Unicode tables.
package enum SystemFile {
    /// Why a file cannot be used, as the end of a sentence.
    package struct Failure: Error, Sendable {
        /// The end of the sentence, without a full stop.
        package let reason: String

        /// A failure for this reason.
        package init(reason: String) {
            self.reason = reason
        }

        /// What the system said last.
        fileprivate static var latest: Failure { Failure(reason: String(cString: strerror(errno))) }

        /// Why a file could not be read just now.
        fileprivate static var ofReading: Failure {
            switch errno {
            case ENOENT, ENOTDIR: Failure(reason: "there is no such file")
            case EISDIR: Failure(reason: "it is a directory")
            case EACCES, EPERM: Failure(reason: "this user may not read it")
            default: Failure(reason: "it cannot be read: \(latest.reason)")
            }
        }
    }

    /// Whether there is something of this name.
    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether a folder on the way to this name does not let this user through.
    static func isShut(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == EACCES }

    /// Whether it is a file that can be read again and again, and no pipe or folder.
    static func isPlain(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// How many bytes a file has; nil where there is none.
    static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Why files cannot be made in a folder, or the folder itself; nil: they can.
    static func obstacle(toWritingIn folder: String) -> Failure? {
        if access(folder, F_OK) == 0 {
            var status = stat()
            guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                return Failure(reason: "it is no directory")
            }
            return access(folder, W_OK | X_OK) == 0 ? nil : .latest
        }
        guard errno == ENOENT else { return .latest }
        let names = folder.split(separator: "/").dropLast()
        let above = (folder.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
        return above == folder ? .latest : obstacle(toWritingIn: above.isEmpty ? "." : above)
    }

    /// Opens a file to read it piece by piece; to be closed by the caller.
    static func reading(_ path: String) throws(Failure) -> Int32 {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .ofReading }
        return file
    }

    /// Closes a file that `reading` has opened.
    static func close(_ file: Int32) { Glibc.close(file) }

    /// The next piece of an open file; empty at its end.
    static func piece(of file: Int32, bytes: Int) throws(Failure) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: bytes)
        while true {
            let count = read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .ofReading }
            return Array(piece.prefix(count))
        }
    }

    /// The bytes of a file; fails if there are more than `maximumBytes`.
    ///
    /// Of a pipe, such as a shell makes by `<(…)`, all that is written to it: fails where nobody
    /// has it open for that, or takes longer than half a minute.
    package static func contents(of path: String, maximumBytes: Int = 1 << 20) throws(Failure) -> [UInt8] {
        // To open a pipe that nobody writes to would wait already.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .ofReading }
        defer { close(file) }
        let bytes = try rest(of: file, maximumBytes: maximumBytes, until: .now + .seconds(pipeSeconds))
        guard bytes.isEmpty, isPipe(file) else { return bytes }
        throw Failure(reason: "it is a pipe to which nobody writes")
    }

    private static let pipeSeconds = 30

    private static func isPipe(_ file: Int32) -> Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Waits until an open file has something to read, or fails at this moment.
    private static func wait(for file: Int32, until end: ContinuousClock.Instant) throws(Failure) {
        let left = (end - .now).components
        guard left.seconds >= 0, left.attoseconds >= 0 else {
            throw Failure(reason: "it is a pipe whose writer has not ended it within \(pipeSeconds) seconds")
        }
        var wanted = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, Int32(left.seconds * 1000 + 1000))
    }

    /// The text of a file; fails if it is longer than 1 MiB or not UTF-8.
    package static func text(of path: String) throws(Failure) -> String {
        guard let text = String(validating: try contents(of: path), as: UTF8.self) else {
            throw Failure(reason: "it is not UTF-8")
        }
        return text
    }

    /// What is left to read of an open file; fails if that is more than `maximumBytes`.
    package static func rest(of file: Int32, maximumBytes: Int) throws(Failure) -> [UInt8] {
        try rest(of: file, maximumBytes: maximumBytes, until: nil)
    }

    /// The same; one that does not block is waited for until `end`.
    private static func rest(
        of file: Int32,
        maximumBytes: Int,
        until end: ContinuousClock.Instant?
    ) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN, let end {
                try wait(for: file, until: end)
                continue
            }
            guard count >= 0 else { throw .ofReading }
            guard count > 0 else { return bytes }
            bytes += piece.prefix(count)
            guard bytes.count <= maximumBytes else {
                throw Failure(reason: "it is larger than \(maximumBytes) bytes")
            }
        }
    }

    /// Writes all bytes to an open file.
    package static func write(_ bytes: some Collection<UInt8>, to file: Int32) throws(Failure) {
        var rest = ArraySlice(bytes)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .latest }
            rest = rest.dropFirst(count)
        }
    }

    /// Replaces a file as a whole: written beside, synchronised with the disk and renamed.
    ///
    /// Nobody sees half of it, and it is on the disk when this returns.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32) throws(Failure) {
        let draft = path + ".new"
        // A new file, whatever has the draft's name: neither its mode nor
        // where a link leads matters.
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { throw .latest }
        defer { close(file) }
        try write(bytes, to: file)
        guard fsync(file) == 0, rename(draft, path) == 0 else { throw .latest }
        // The folder's entry is what a power cut could take back.
        let folder = open(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Makes a folder for this user alone, and those above it that are missing.
    package static func makeFolder(_ path: String) throws(Failure) {
        var made = path.hasPrefix("/") ? "/" : ""
        for name in path.split(separator: "/") {
            made += name + "/"
            guard mkdir(made, 0o700) != 0 else { continue }
            let failure = Failure.latest
            var status = stat()
            guard stat(made, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw failure }
        }
    }
}
