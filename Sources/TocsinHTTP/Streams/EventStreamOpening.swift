import GraphQLTransport
import HTTPTypes
import NIOCore

/// An answer that is a stream of server-sent events, before it has begun.
///
/// A class, so that answers have one size, whoever the caller is.
final class EventStreamOpening<Caller: Sendable>: Sendable {
    /// What the stream answers.
    let content: EventStreamSession.Content
    /// Who asked.
    let caller: Caller
    /// The GraphQL operation's name, for the log.
    let operationName: String?
    /// What a client that comes again has seen last.
    let lastEventID: String?
    /// Further header fields.
    private let fields: [(name: String, value: String)]

    init(
        _ content: EventStreamSession.Content,
        caller: Caller,
        operationName: String?,
        lastEventID: String?,
        fields: [(name: String, value: String)]
    ) {
        self.content = content
        self.caller = caller
        self.operationName = operationName
        self.lastEventID = lastEventID
        self.fields = fields
    }

    /// The head of the response; nothing on the way may keep events or hold them back.
    var response: OutgoingResponse {
        var response = OutgoingResponse(
            status: .ok,
            contentType: "text/event-stream; charset=utf-8",
            fields: [("cache-control", "no-store, no-transform"), ("x-accel-buffering", "no")] + fields
        )
        response.operationName = operationName
        response.isStreamed = true
        return response
    }
}

extension ByteBuffer {
    /// Appends a piece of a stream, as a chunk where the stream is chunked (RFC 9112 §7.1).
    mutating func writePiece(_ message: SocketMessage, isChunked: Bool) {
        if isChunked { writeString(String(message.count, radix: 16) + "\r\n") }
        writeBytes(message.prefix)
        writeBytes(message.shared)
        writeBytes(message.suffix)
        if isChunked { writeStaticString("\r\n") }
    }

    /// Appends what ends a chunked stream.
    mutating func writeLastChunk() { writeStaticString("0\r\n\r\n") }
}
