/// What comes around the responses of an operation on its connection; equal envelopes make
/// equal bytes of a response.
public enum ResponseEnvelope: Sendable, Hashable {
    /// A JSON message: this head, the response and a brace.
    case message(head: [UInt8])
    /// A server-sent event (HTML §9.2), named by the response's cursor.
    case event

    /// The response in its envelope.
    public func message(of response: SharedResponse) -> SocketMessage {
        switch self {
        case .message(let head): SocketMessage(prefix: head, shared: response.body, suffix: Self.brace)
        case .event: Self.event(of: response)
        }
    }

    private static let brace = [UInt8(ascii: "}")]

    private static func event(of response: SharedResponse) -> SocketMessage {
        var head = Array("event: next\n".utf8)
        if let cursor = response.cursor, !cursor.utf8.contains(where: isBreak) { head += Array("id: \(cursor)\n".utf8) }
        head += Array("data: ".utf8)
        // Between the tokens of JSON a line break means nothing; inside a string
        // it is written otherwise.
        let hasBreaks = response.body.contains(where: isBreak)
        let oneLine = hasBreaks ? response.body.map { isBreak($0) ? UInt8(ascii: " ") : $0 } : response.body
        return SocketMessage(prefix: head, shared: oneLine, suffix: Array("\n\n".utf8))
    }

    private static func isBreak(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == 0
    }
}
