import Glibc

/// Files that only their owner may read.
enum PrivateFile {
    /// Largest file read; keys and certificates are far below.
    private static let maximumBytes = 1 << 20

    static func makeFolder(_ path: String) throws(SimulatorError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw failure(path)
    }

    /// The file's bytes, or `nil` if there is none.
    static func read(_ path: String) throws(SimulatorError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path)
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw failure(path) }
        return Array(bytes.prefix(count))
    }

    static func write(_ bytes: [UInt8], to path: String) throws(SimulatorError) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(path) }
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw failure(path) }
    }

    private static func failure(_ path: String) -> SimulatorError {
        .file(path: path, reason: String(cString: strerror(errno)))
    }
}
