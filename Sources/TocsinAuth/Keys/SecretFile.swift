import Encodings
import Glibc
import TocsinCore

/// A small file that only its owner may read.
enum SecretFile {
    private static let maximumBytes = 4096

    /// The contents; nil when there is no such file.
    ///
    /// Refuses a file that others may read, and anything but a plain file.
    static func contents(of path: String) throws(KeyError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw KeyError("\(path) cannot be opened: \(reason()).")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeyError("\(path) is not a plain file.")
        }
        guard status.st_mode & 0o007 == 0 else {
            throw KeyError("\(path) may be read or written by other users. Allow its owner only: chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: maximumBytes + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress?.advanced(by: count), $0.count - count) }
            if got == 0 { break }
            guard got > 0 else {
                if errno == EINTR { continue }
                throw KeyError("\(path) cannot be read: \(reason()).")
            }
            count += got
        }
        guard count <= maximumBytes else { throw KeyError("\(path) is longer than \(maximumBytes) bytes.") }
        return Array(bytes.prefix(count))
    }

    /// Makes the file with mode 0600; a file that is there already stays as it is.
    ///
    /// The file is written under another name and synced before it gets its own name, so nobody
    /// sees it half written.
    static func create(_ path: String, contents: [UInt8]) throws(KeyError) {
        let draft = path + "." + Base64URL.encoded(RandomBytes.make(9))
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw KeyError("\(path) cannot be made: \(reason()). Is the data directory there, and may it be written?")
        }
        defer { unlink(draft) }
        let isWritten = write(file, contents, contents.count) == contents.count && fsync(file) == 0
        let problem = reason()
        close(file)
        guard isWritten else { throw KeyError("\(path) cannot be written: \(problem).") }
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw KeyError("\(path) cannot be made: \(reason()).")
        }
        syncDirectory(of: path)
    }

    /// Makes the new name durable; where the file system cannot, the key may have to be made again.
    private static func syncDirectory(of path: String) {
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
        let directory = open(name.isEmpty ? "/" : name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
