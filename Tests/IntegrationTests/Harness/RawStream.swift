import JSON

/// An event stream (GraphQL over SSE, distinct connections mode) as it comes.
final class RawStream {
    private let connection: RawConnection

    init(_ installation: Installation, token: String, _ document: String) throws {
        let port = installation.server?.port ?? 0
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

    /// Waits until the server has closed the stream, and gives all that came.
    func untilEnd() async throws -> String { try await connection.untilEnd() }
}
