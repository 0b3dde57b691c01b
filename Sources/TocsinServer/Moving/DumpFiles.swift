import Glibc
import TocsinCore
import TocsinStore

/// Reads lines from a file or standard input, each of bounded length.
struct DumpLineReader {
    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// The number of the line that was read last, from 1.
    private(set) var number = 0
    private static let maximumLineBytes = 1 << 28
    private static let pieceBytes = 1 << 18

    /// Opens a file; `-` is standard input.
    init(path: String) throws(StoreError) {
        name = path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .mismatch(reason: "\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
    }

    /// The next line without its end; nil behind the last.
    ///
    /// A line that is not ended was cut off, and is none.
    mutating func next() throws(StoreError) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[start..<end])
                start = end + 1
                number += 1
                return line
            }
            if isAtEnd { return nil }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            guard buffer.count < Self.maximumLineBytes else {
                throw .mismatch(reason: "Line \(number + 1) of \(name) has no end: this is no dump.")
            }
            try fill()
        }
    }

    private mutating func fill() throws(StoreError) {
        var result = 0
        let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, count in
            result = read(descriptor, buffer.baseAddress, Self.pieceBytes)
            count = max(0, result)
        }
        guard result >= 0 else {
            if errno == EINTR { return }
            throw .unavailable(
                reason: "the dump cannot be read",
                detail: "\(name): \(String(cString: strerror(errno)))"
            )
        }
        isAtEnd = piece.isEmpty
        buffer += piece
    }

    func close() {
        if descriptor != STDIN_FILENO { Glibc.close(descriptor) }
    }
}

/// Writes a dump to a file that only its owner can read, or to standard output.
///
/// The file is always a new one. If it is to replace another, it is written beside it and takes the
/// name when it is complete. So the old file stays until then, and neither its mode nor the target
/// of a link matters.
struct DumpOutput {
    private let descriptor: Int32
    /// What is written to.
    private let path: String
    /// The name that the complete file takes; nil where it has it already.
    private let name: String?

    /// Makes a file, whose name must be free unless what has it may be
    /// replaced; nil is standard output.
    init(path: String?, replaces: Bool) throws(StoreError) {
        guard let path else {
            (descriptor, self.path, name) = (STDOUT_FILENO, "standard output", nil)
            return
        }
        var status = stat()
        if replaces, stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw .mismatch(reason: "\(path) is not a file. Name the file that the dump is to become.")
        }
        self.path = replaces ? path + ".\(getpid()).part" : path
        name = replaces ? path : nil
        // The file may be left from a run that was killed, in a container under the same number.
        if replaces { unlink(self.path) }
        descriptor = open(self.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let advice = errno == EEXIST && !replaces ? " Name another file, or say --force to replace it." : ""
            throw .mismatch(reason: "\(self.path) cannot be written: \(String(cString: strerror(errno))).\(advice)")
        }
    }

    func write(_ bytes: [UInt8]) throws(StoreError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            written += count
        }
    }

    /// Makes a file's contents and name last.
    func finish() throws(StoreError) {
        guard descriptor != STDOUT_FILENO else { return }
        guard fsync(descriptor) == 0 else { throw failure() }
        guard let name else { return }
        guard rename(path, name) == 0 else { throw failure() }
        let folder = open(
            name.lastIndex(of: "/").map { String(name[...$0]) } ?? ".",
            O_RDONLY | O_DIRECTORY | O_CLOEXEC
        )
        guard folder >= 0 else { throw failure() }
        defer { Glibc.close(folder) }
        guard fsync(folder) == 0 else { throw failure() }
    }

    /// Ends the writing; what was to replace a file and is not complete goes.
    func close() {
        guard descriptor != STDOUT_FILENO else { return }
        Glibc.close(descriptor)
        if name != nil { unlink(path) }
    }

    private func failure() -> StoreError {
        .unavailable(reason: "the dump cannot be written", detail: "\(path): \(String(cString: strerror(errno)))")
    }
}
