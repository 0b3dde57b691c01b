package import HTTPTypes
import NIOCore

/// One complete HTTP response.
package struct OutgoingResponse: Sendable {
    /// The status.
    package var status: HTTPResponse.Status
    /// Header fields but for `Content-Length`, `Connection` and `Date`, which the server writes.
    package var fields: [(name: String, value: String)]
    /// The body in one piece.
    package var body: [UInt8]
    /// The GraphQL operation's name, for the log.
    var operationName: String?
    /// Whether the body follows in pieces.
    var isStreamed = false
    /// Whether the connection ends with this response.
    var closes = false

    /// A response of these parts.
    package init(
        status: HTTPResponse.Status,
        contentType: String?,
        fields: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) {
        self.status = status
        self.fields = contentType.map { [("content-type", $0)] + fields } ?? fields
        self.body = body
    }

    /// The response in one buffer: status line, fields, body.
    func serialized(
        for request: RequestTraits,
        date: [UInt8],
        allocator: ByteBufferAllocator
    ) -> ByteBuffer {
        var buffer = allocator.buffer(capacity: 256 + body.count)
        buffer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\ndate: ")
        buffer.writeBytes(date)
        buffer.writeStaticString("\r\n")
        for field in fields {
            buffer.writeString(field.name)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
        if isStreamed {
            // HTTP/1.0 knows no chunks: there the body ends with the connection.
            if !request.isHTTP10 { buffer.writeStaticString("transfer-encoding: chunked\r\n") }
        } else if status.code != 204 && status.code >= 200 {
            buffer.writeString("content-length: \(body.count)\r\n")
        }
        if !request.keepsAlive {
            buffer.writeStaticString("connection: close\r\n")
        } else if request.isHTTP10 {
            buffer.writeStaticString("connection: keep-alive\r\n")
        }
        buffer.writeStaticString("\r\n")
        if !request.isHead { buffer.writeBytes(body) }
        return buffer
    }
}

/// What of a request decides how its response is framed.
struct RequestTraits {
    var keepsAlive = false
    var isHTTP10 = false
    var isHead = false
}
