import Glibc

/// One blocking keep-alive HTTP connection with one request under way, as plain as it can be, so
/// that the load generator costs little.
final class LoadConnection {
    let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    private var filled = 0
    private static let lengthNames = ["content-length: ", "Content-Length: "].map { Array($0.utf8) }
    private static let headEnd = Array("\r\n\r\n".utf8)
    private static let errors = Array("\"errors\"".utf8)

    init(port: UInt16) throws {
        descriptor = try Loopback.connect(port: port)
    }

    func close() { Glibc.close(descriptor) }

    /// Sends a request and answers the body of the response.
    func exchange(_ request: [UInt8]) throws -> [UInt8] {
        try send(request)
        return try receive()
    }

    /// Requests are far smaller than a socket's buffer, so one write takes all.
    func send(_ request: [UInt8]) throws {
        guard write(descriptor, request, request.count) == request.count else {
            throw BenchFailure("the connection broke while sending")
        }
    }

    /// Waits for the body of the response.
    func receive() throws -> [UInt8] {
        while true {
            if let body = try readOn() { return Array(body) }
        }
    }

    /// Reads once; the response's body when it is complete.
    ///
    /// Throws for a response with GraphQL errors.
    func readOn() throws -> ArraySlice<UInt8>? {
        if filled == buffer.count { buffer += [UInt8](repeating: 0, count: buffer.count) }
        let count = buffer.withUnsafeMutableBytes {
            read(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled)
        }
        guard count > 0 else { throw BenchFailure("the connection broke while reading") }
        filled += count
        guard let start = offset(of: Self.headEnd, before: filled).map({ $0 + 4 }) else { return nil }
        let end = start + contentLength(before: start)
        guard filled >= end else { return nil }
        guard offset(of: Self.errors, before: end) == nil else {
            throw BenchFailure("the server answered an error: \(String(decoding: buffer[start..<end], as: UTF8.self))")
        }
        filled = 0
        return buffer[start..<end]
    }

    private func contentLength(before end: Int) -> Int {
        for name in Self.lengthNames {
            guard let offset = offset(of: name, before: end) else { continue }
            return buffer[(offset + name.count)..<end].prefix { $0 >= 0x30 && $0 <= 0x39 }.reduce(0) {
                $0 * 10 + Int($1 - 0x30)
            }
        }
        return 0
    }

    private func offset(of text: [UInt8], before end: Int) -> Int? {
        guard end >= text.count else { return nil }
        return (0...(end - text.count)).first { start in
            buffer[start] == text[0] && buffer[start..<(start + text.count)].elementsEqual(text)
        }
    }
}
