import Glibc

/// A TCP connection to the server, byte by byte, that never blocks; for what a
/// polite client would not do.
final class RawConnection {
    private let descriptor: Int32
    /// What came and was not taken yet.
    private(set) var received: [UInt8] = []
    private(set) var isAtEnd = false

    /// A small window lets the system take little for a client that does not read.
    init(port: Int, hasSmallWindow: Bool = false) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if hasSmallWindow {
            set(SOL_SOCKET, SO_RCVBUF, 4096)
            set(Int32(IPPROTO_TCP), TCP_MAXSEG, 536)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard status == 0 else {
            // All is set, so that throwing runs `deinit`, which closes.
            let reason = String(cString: strerror(errno))
            throw HarnessFailure("No connection to port \(port): \(reason).")
        }
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { Glibc.close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        // Small enough for the socket's buffer; a peer that is gone shows as the connection's end.
        let sent = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        if sent < 0 { isAtEnd = true }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Takes what has come so far.
    func look() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !isAtEnd {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                received += buffer.prefix(count)
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                isAtEnd = true
            } else {
                return
            }
        }
    }

    /// Takes bytes off the front.
    func drop(_ count: Int) { received.removeFirst(count) }

    /// Waits until the peer has closed, and gives all that came.
    func untilEnd() async throws -> String {
        try await eventually("the server closes the connection") {
            look()
            return isAtEnd
        }
        return String(decoding: received, as: UTF8.self)
    }
}
