import Foundation

/// Plays systemd: hears the server's notes at a socket of datagrams, and holds a listening socket
/// that it hands over.
final class ServiceManager {
    private let notes: Int32
    private let listener: Int32
    /// Where the server sends its notes.
    let notifyPath: String
    /// The port that clients connect to, whether or not a server runs.
    let port: Int
    private(set) var heard: [String] = []

    init(folder: String) throws {
        let path = folder + "/notify"
        notifyPath = path
        notes = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8) + [0]) }
        try Self.bind(notes, &address, MemoryLayout<sockaddr_un>.size)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var door = sockaddr_in()
        door.sin_family = sa_family_t(AF_INET)
        door.sin_addr.s_addr = inet_addr("127.0.0.1")
        try Self.bind(listener, &door, MemoryLayout<sockaddr_in>.size)
        guard listen(listener, 16) == 0 else { throw HarnessFailure("The socket does not listen.") }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &door) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        guard status == 0 else { throw HarnessFailure("The socket has no address.") }
        port = Int(UInt16(bigEndian: door.sin_port))
    }

    deinit {
        close(notes)
        close(listener)
    }

    private static func bind<Address>(_ socket: Int32, _ address: inout Address, _ size: Int) throws {
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(socket, $0, socklen_t(size)) }
        }
        guard status == 0 else {
            throw HarnessFailure("The socket cannot be bound: \(String(cString: strerror(errno))).")
        }
    }

    /// Starts the server as the unit does; `handed` is what it gets in place of the listening
    /// socket, which it may get twice.
    func start(folder: String, handed: Int32? = nil, isDoubled: Bool = false) throws -> ChildProcess {
        var all = TestBinary.environment
        all["NOTIFY_SOCKET"] = notifyPath
        all["WATCHDOG_USEC"] = "1000000"
        all["LISTEN_FDS"] = isDoubled ? "2" : "1"
        all["LISTEN_FDNAMES"] = isDoubled ? "http:http" : "http"
        // The number of the process is known to the process alone.
        let script =
            (isDoubled ? "exec 4<&3; " : "")
            + "LISTEN_PID=$$ WATCHDOG_PID=$$ exec \"$0\" serve --host 203.0.113.1 --data-dir \"$1\""
        return try ChildProcess(
            "/bin/sh",
            ["-c", script, try TestBinary.path(), folder + "/data"],
            environment: all,
            folder: folder,
            handsOver: handed ?? listener
        )
    }

    /// A socket that is no listening one.
    var wrongSocket: Int32 { notes }

    /// Takes the notes that have come, and forgets those of before.
    func forget() {
        look()
        heard = []
    }

    /// Waits for a note that holds the text as a line or its beginning, and gives it.
    func note(_ text: String, of process: ChildProcess) async throws -> String {
        try await eventually("the server tells \(text); heard: \(heard)") {
            look()
            if let found = heard.first(where: { ("\n" + $0).contains("\n" + text) }) { return found }
            if let status = process.status { throw HarnessFailure("It ended with \(status): \(process.errors)") }
            return nil
        }
    }

    private func look() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(notes, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return }
            heard.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
    }
}
