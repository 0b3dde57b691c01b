import Glibc
import Synchronization

/// Listening sockets that the service manager has made and hands over, as sd_listen_fds(3)
/// describes it: connections wait in them while the server restarts.
package final class ActivatedSockets: Sendable {
    private typealias Entry = (name: String, descriptor: Int32)

    private let entries: Mutex<[Entry]>

    /// What sockets are called that are for somebody (`FileDescriptorName=`); any other name means
    /// the first of these.
    private static let names = ["http", "admin"]
    private static let firstDescriptor: Int32 = 3
    private static let maximumCount: Int32 = 64

    /// No sockets.
    package init() { entries = Mutex([]) }

    /// Takes what `LISTEN_FDS` and `LISTEN_FDNAMES` tell of, if `LISTEN_PID` is this process.
    ///
    /// Throws when one of them is no listening socket, or two have one name.
    package init(environment: [String: String], processID: Int32 = getpid()) throws(StartError) {
        guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"] == String(processID) else {
            entries = Mutex([])
            return
        }
        guard let count = Int32(text), (0...Self.maximumCount).contains(count) else {
            throw StartError("LISTEN_FDS is \"\(text)\"; it must be a number from 0 to \(Self.maximumCount).")
        }
        let given = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        var found: [Entry] = []
        for index in 0..<Int(count) {
            let descriptor = Self.firstDescriptor + Int32(index)
            let name = index < given.count ? String(given[index]) : ""
            let known = Self.names.contains(name) ? name : Self.names[0]
            try Self.check(descriptor, name: known)
            if let other = found.first(where: { $0.name == known }) {
                throw StartError(
                    "The descriptors \(other.descriptor) and \(descriptor) are both for \(known); one socket is served. "
                        + "Write one ListenStream= for it; [::]:8080 with BindIPv6Only=both takes IPv4 too."
                )
            }
            found.append((known, descriptor))
        }
        entries = Mutex(found)
    }

    /// The socket of this name, which is the caller's from now on; nil: there is none, or it was
    /// taken.
    package func take(name: String) -> Int32? {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.name == name }) else { return nil }
            return entries.remove(at: index).descriptor
        }
    }

    /// Where a socket in the file system listens; nil for one of another kind.
    static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        guard isKnown, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        return withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func check(_ descriptor: Int32, name: String) throws(StartError) {
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            number(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            number(SO_ACCEPTCONN, of: descriptor) == 1
        else {
            throw StartError(
                "The descriptor \(descriptor) (\(name)), which LISTEN_FDS hands over, is no listening stream socket. "
                    + "The socket unit needs ListenStream= and Accept=no."
            )
        }
        let family = number(SO_DOMAIN, of: descriptor)
        guard name != names[0] || family == AF_INET || family == AF_INET6 else {
            throw StartError(
                "The descriptor \(descriptor) (\(name)) must be a socket of TCP: ListenStream=127.0.0.1:8080."
            )
        }
    }

    private static func number(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }
}
