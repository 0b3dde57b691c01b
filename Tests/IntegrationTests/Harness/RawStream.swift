import JSON

/// An event stream (GraphQL over SSE, distinct connections mode) as it comes.
final class RawStream {
    private let connection: RawConnection

    convenience init(_ installation: Installation, token: String, _ document: String) throws {
        try self.init(port: installation.server?.port ?? 0, token: token, document)
    }

    /// The same, on a server at this port.
    init(port: Int, token: String, _ document: String) throws {
        let body: JSONValue = ["query": .string(document)]
        let text = body.serializedString()
        connection = try RawConnection(port: port)
        try connection.send(
            "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n"
                + "Accept: text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n"
                + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
        )
    }

    /// All that has come so far.
    var text: String {
        connection.look()
        return String(decoding: connection.received, as: UTF8.self)
    }

    /// Whether the server has said that nothing committed from then on is missed.
    var isLive: Bool { text.replacing("\r\n", with: "\n").contains("\n: live\n") }

    /// The responses that have come as a whole.
    func responses() throws -> [JSONValue] {
        // A whole event has an empty line behind it.
        let events = text.replacing("\r\n", with: "\n").split(separator: "\n\n", omittingEmptySubsequences: false)
        return try events.dropLast().flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("data: ") }
            .map { try JSONParser.parse(String($0.dropFirst("data: ".count))) }
    }

    /// Waits until the server has closed the stream, and gives all that came.
    func untilEnd() async throws -> String { try await connection.untilEnd() }
}
