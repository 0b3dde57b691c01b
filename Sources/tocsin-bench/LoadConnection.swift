import Foundation

/// One blocking keep-alive HTTP connection, as plain as it can be, so that the load generator costs little.
final class LoadConnection {
    private let socket: Int32
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var pending: [UInt8] = []

    init(port: UInt16) throws {
        socket = try Loopback.connect(port: port)
    }

    func close() { Foundation.close(socket) }

    /// Sends a request and answers the body of the response, whatever its status.
    func exchange(_ request: [UInt8]) throws -> [UInt8] {
        try send(request)
        return try receive()
    }

    /// Sends a request.
    func send(_ request: [UInt8]) throws {
        var sent = 0
        while sent < request.count {
            let count = request.withUnsafeBytes {
                write(socket, $0.baseAddress?.advanced(by: sent), request.count - sent)
            }
            guard count > 0 else { throw BenchFailure("the connection broke while sending") }
            sent += count
        }
    }

    /// The body of the next response.
    func receive() throws -> [UInt8] {
        var bodyStart: Int?
        var length = 0
        while true {
            if bodyStart == nil, let end = headEnd() {
                bodyStart = end
                length = contentLength(pending[..<end])
            }
            if let start = bodyStart, pending.count >= start + length {
                let body = Array(pending[start..<(start + length)])
                pending.removeFirst(start + length)
                return body
            }
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { throw BenchFailure("the connection broke while reading") }
            pending.append(contentsOf: buffer[..<count])
        }
    }

    private func headEnd() -> Int? {
        guard pending.count >= 4 else { return nil }
        for index in 0...(pending.count - 4)
        where pending[index] == 13 && pending[index + 1] == 10 && pending[index + 2] == 13 && pending[index + 3] == 10 {
            return index + 4
        }
        return nil
    }

    private func contentLength(_ head: ArraySlice<UInt8>) -> Int {
        for line in String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n")
        where line.hasPrefix("content-length:") {
            return Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0
        }
        return 0
    }
}

/// Runs one load on many connections for a time.
enum Load {
    /// Each connection sends what `request` makes for it, one after the other; answers how many were answered.
    static func run(
        port: UInt16,
        connections: Int,
        seconds: Double,
        request: @escaping @Sendable (_ connection: Int, _ round: Int) -> [UInt8]
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for connection in 0..<connections {
                group.addTask {
                    try await withCheckedThrowingContinuation { continuation in
                        let thread = Thread {
                            continuation.resume(
                                with: Result { try drive(port: port, seconds: seconds) { request(connection, $0) } }
                            )
                        }
                        thread.start()
                    }
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private static func drive(port: UInt16, seconds: Double, request: (Int) -> [UInt8]) throws -> Int {
        let connection = try LoadConnection(port: port)
        defer { connection.close() }
        let end = Date(timeIntervalSinceNow: seconds)
        var round = 0
        while Date() < end {
            let body = try connection.exchange(request(round))
            guard !String(decoding: body, as: UTF8.self).contains("\"errors\"") else {
                throw BenchFailure("the server answered an error: \(String(decoding: body, as: UTF8.self))")
            }
            round += 1
        }
        return round
    }
}
