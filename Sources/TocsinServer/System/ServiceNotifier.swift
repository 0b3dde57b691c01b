import Glibc
import Synchronization

/// Tells the service manager how the server is, as sd_notify(3) describes it; where none listens,
/// nothing is said.
package final class ServiceNotifier: Sendable {
    /// How long the manager waits for a sign of life, in seconds; nil: it does not ask for one.
    let watchdogSeconds: Double?
    private let socket: Int32?
    private let address: [UInt8]
    private let warn: @Sendable (String) -> Void
    private let hasWarned = Atomic<Bool>(false)

    /// A full queue of the manager is waited for so long.
    private static let sendSeconds = 2
    /// `sun_path` of unix(7).
    private static let longestAddress = 108

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    ///
    /// - Parameter warn: Told, once, when the manager cannot be reached.
    package init(
        environment: [String: String] = [:],
        processID: Int32 = getpid(),
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.warn = warn
        let isForUs = environment["WATCHDOG_PID"].map { $0 == String(processID) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap(Double.init)
        watchdogSeconds = isForUs ? microseconds.flatMap { $0 > 0 ? $0 / 1e6 : nil } : nil
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else {
            (socket, address) = (nil, [])
            return
        }
        // An abstract address begins with a zero byte and has none at its end.
        let isAbstract = path.hasPrefix("@")
        address = isAbstract ? [0] + path.utf8.dropFirst() : Array(path.utf8) + [0]
        guard isAbstract || path.hasPrefix("/"), address.count <= Self.longestAddress else {
            socket = nil
            warn("NOTIFY_SOCKET must be an absolute path or begin with @, of at most 107 bytes. Nothing is told.")
            return
        }
        let made = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        socket = made < 0 ? nil : made
        var limit = timeval(tv_sec: Self.sendSeconds, tv_usec: 0)
        setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        if let socket { close(socket) }
    }

    /// Whether anybody is told.
    var isHeard: Bool { socket != nil }

    /// Requests are taken; also says that a reload has ended.
    package func ready() { send("READY=1") }

    /// The stop has begun.
    package func stopping() { send("STOPPING=1\nSTATUS=stopping") }

    /// A reload has begun; `ready` ends it.
    package func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        send("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)")
    }

    /// One line about what the server does, for `systemctl status`.
    package func status(_ text: String) { send("STATUS=\(Self.oneLine(text))") }

    /// The start or the stop may take so much longer, counted from now.
    package func extendTimeout(_ duration: Duration) {
        send("EXTEND_TIMEOUT_USEC=\(max(0, Int64(duration / .microseconds(1))))")
    }

    /// The server works; with the line about it.
    func alive(status text: String) { send("WATCHDOG=1\nSTATUS=\(Self.oneLine(text))") }

    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 }.prefix(1000))
    }

    private func send(_ text: String) {
        guard let socket else { return }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count)
        let bytes = Array(text.utf8)
        let sent = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent < 0 else { return }
        let reason = String(cString: strerror(errno))
        if !hasWarned.exchange(true, ordering: .relaxed) {
            warn("The service manager cannot be told of this server's state: \(reason). It may take it for hung.")
        }
    }
}
