/// Why an operation or its connection ended.
package struct FeedFailure: Hashable, Sendable {
    let code: ClientError.Code
    let message: String
    var oldestCursor: String?
    /// The code the socket was closed with.
    var closeCode: Int?
    /// The pause the server asks for.
    var retryAfter: Duration?

    init(_ code: ClientError.Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The same, as a failure of the socket.
    init(_ error: ClientError) {
        self.init(error.code, error.message)
        oldestCursor = error.oldestCursor
        retryAfter = error.retryAfter
    }

    /// The meaning of a WebSocket's close code (graphql-transport-ws; RFC 6455 §7.4).
    init(closeCode: Int?, reason: String) {
        let detail = reason.isEmpty ? "" : ": \(reason)"
        switch closeCode {
        case 4401?, 4403?: self.init(.unauthenticated, "The server does not accept the token\(detail).")
        case 1002?, 1003?, 1007?, 1009?, 4400?, 4406?, 4409?:
            self.init(.badAnswer, "Client and server do not understand each other (\(closeCode ?? 0))\(detail).")
        case 1013?: self.init(.unavailable, "The server has too much to do (1013)\(detail).")
        case let code?: self.init(.connectionFailed, "The server closed the connection (\(code))\(detail).")
        case nil: self.init(.connectionFailed, "The connection was lost\(detail).")
        }
        self.closeCode = closeCode
    }

    static let strange = FeedFailure(.badAnswer, "The server sent what this client does not understand.")

    /// Whether another attempt may do better.
    var isTemporary: Bool { error.isTemporary }

    /// For the caller.
    var error: ClientError { ClientError(code, message, oldestCursor: oldestCursor, retryAfter: retryAfter) }
}

extension ClientError {
    /// Whether the same may succeed a little later.
    var isTemporary: Bool {
        [.connectionFailed, .timedOut, .unavailable, .timeout, .internal, Code(rawValue: "LIMIT")].contains(code)
    }
}
