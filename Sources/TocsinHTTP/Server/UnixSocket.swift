import Glibc

/// A socket in the file system: its path, and who may connect.
package struct UnixSocket: Sendable, Hashable {
    /// The file's path.
    package let path: String
    /// The rights of the file: whoever may write to it may connect.
    package let mode: UInt32
    /// How long a path may be, in bytes (unix(7)).
    package static let maximumPathBytes = 107

    /// A socket of this path.
    package init(_ path: String, mode: UInt32 = 0o600) {
        self.path = path
        self.mode = mode
    }

    /// Why nobody answers at a socket.
    package enum ConnectFailure: Error, Sendable, Hashable {
        /// There is no such file.
        case absent
        /// The file is there, and no process listens.
        case deserted
        /// This user may not connect.
        case forbidden
        /// What the system said.
        case other(String)
    }

    /// A connected socket, to be closed by the caller, whose calls block.
    package func connected() throws(ConnectFailure) -> Int32 {
        try connected(flags: 0)
    }

    fileprivate func connected(flags: Int32) throws(ConnectFailure) -> Int32 {
        guard let address = sockaddr_un(path: path) else { throw .other("the path is too long") }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags, 0)
        guard descriptor >= 0 else { throw .other(String(cString: strerror(errno))) }
        guard address.using({ connect(descriptor, $0, $1) }) != 0 else { return descriptor }
        let code = errno
        close(descriptor)
        switch code {
        case ENOENT, ENOTDIR: throw .absent
        case ECONNREFUSED: throw .deserted
        case EACCES, EPERM: throw .forbidden
        default: throw .other(String(cString: strerror(code)))
        }
    }
}

/// A bound socket of the file system that listens, and the file that goes with it.
struct UnixListener: Sendable {
    let descriptor: Int32
    private let path: String
    private let device: UInt
    private let inode: UInt

    private static let lockAttempts = 200
    private static let lockPauseMicroseconds: UInt32 = 10_000

    /// Binds and listens.
    ///
    /// The file of a process that has died is replaced; a socket at which somebody listens is not.
    init(_ socket: UnixSocket, backlog: Int) throws(HTTPServerError) {
        let path = socket.path
        guard path.utf8.count <= UnixSocket.maximumPathBytes, let address = sockaddr_un(path: path) else {
            throw .socketPathTooLong(path: path)
        }
        let lock = try Self.lockFolder(of: path)
        defer { close(lock) }
        try Self.makeRoom(for: socket)
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, flags, 0)
        guard descriptor >= 0 else { throw Self.failure(path) }
        var status = stat()
        let isBound = address.using { bind(descriptor, $0, $1) } == 0
        guard isBound, chmod(path, socket.mode) == 0, listen(descriptor, Int32(clamping: backlog)) == 0,
            lstat(path, &status) == 0
        else {
            let failure = Self.failure(path)
            if isBound { unlink(path) }
            close(descriptor)
            throw failure
        }
        (self.descriptor, self.path) = (descriptor, path)
        (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
    }

    /// Removes the file, unless another process has put its own there.
    func removeFile() {
        var status = stat()
        guard lstat(path, &status) == 0, UInt(status.st_dev) == device, UInt(status.st_ino) == inode else { return }
        unlink(path)
    }

    /// Keeps others from taking the name between our look and our bind; the lock goes with the
    /// descriptor.
    private static func lockFolder(of path: String) throws(HTTPServerError) -> Int32 {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        for _ in 0..<lockAttempts {
            // A file system without locks does without.
            guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR else {
                return descriptor
            }
            usleep(lockPauseMicroseconds)
        }
        close(descriptor)
        throw .cannotListenOnSocket(path: path, cause: "another process holds its folder")
    }

    private static func makeRoom(for socket: UnixSocket) throws(HTTPServerError) {
        var status = stat()
        guard lstat(socket.path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .cannotListenOnSocket(path: socket.path, cause: "there is a file of that name that is no socket")
        }
        do throws(UnixSocket.ConnectFailure) {
            close(try socket.connected(flags: Int32(SOCK_NONBLOCK.rawValue)))
        } catch {
            switch error {
            case .absent: return
            case .deserted:
                guard unlink(socket.path) == 0 else { throw failure(socket.path) }
                return
            // Somebody is there, who cannot take more just now.
            case .forbidden, .other: break
            }
        }
        throw .socketTaken(path: socket.path)
    }

    private static func failure(_ path: String) -> HTTPServerError {
        .cannotListenOnSocket(path: path, cause: String(cString: strerror(errno)))
    }
}

extension sockaddr_un {
    /// nil where the path does not fit.
    fileprivate init?(path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= UnixSocket.maximumPathBytes, !bytes.contains(0) else { return nil }
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &sun_path) { $0.copyBytes(from: bytes) }
    }

    /// Calls the body with the address as the system's calls take it.
    fileprivate func using<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: self) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
