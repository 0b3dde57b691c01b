import Encodings
package import HTTPTypes
import JSON
import NIOCore
import Synchronization

/// One complete HTTP response.
package struct OutgoingResponse: Sendable {
    /// The status.
    package var status: HTTPResponse.Status
    /// The media type of the body, if it has one.
    package var contentType: String?
    /// Further header fields but for `Content-Length`, `Connection` and `Date`,
    /// which the server writes.
    package var fields: [(name: String, value: String)]
    /// The body in one piece.
    package var body: [UInt8]
    /// The GraphQL operation's name, for the log.
    var operationName: String?
    /// Ids of what the request was about, for the log, by its keys.
    package var subjects: [String: String] = [:]
    /// Whether the body follows in pieces.
    var isStreamed = false
    /// Whether its caller has been let in.
    package var isLetIn = false
    /// Whose answer it is, for the memory budget; `nil` counts it for the client's address.
    package var owner: String?
    /// What its path is to those who watch the server.
    package var route: RouteLabel?
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
        self.contentType = contentType
        self.fields = fields
        self.body = body
    }

    /// As many bytes as the response takes, or somewhat more.
    func room(for request: RequestTraits, _ date: [UInt8]) -> Int {
        var room = Self.roomOfHead + status.reasonPhrase.utf8.count + date.count + (contentType?.utf8.count ?? 0)
        for field in fields { room += field.name.utf8.count + field.value.utf8.count + 4 }
        if !request.isHead { room += body.count }
        if let id = request.id { room += id.utf8.count + 4 }
        return room
    }

    /// Writes status line, fields and body into memory that has room for them, and answers
    /// how many bytes they are.
    func write(into memory: UnsafeMutableRawBufferPointer, for request: RequestTraits, _ date: [UInt8]) -> Int {
        var writer = HeadWriter(memory)
        writeHead(to: &writer, for: request, date)
        if !request.isHead { writer.bytes(body) }
        return writer.count
    }

    /// More than the names of fields and all else take that is written whatever the response is.
    private static let roomOfHead = 256

    private func writeHead(to writer: inout HeadWriter, for request: RequestTraits, _ date: [UInt8]) {
        writer.text("HTTP/1.1 ")
        writer.number(status.code)
        writer.text(" ")
        writer.string(status.reasonPhrase)
        writer.text("\r\ndate: ")
        writer.bytes(date)
        writer.text("\r\n")
        if let contentType { writer.field("content-type", contentType) }
        for field in fields { writer.field(field.name, field.value) }
        if let id = request.id {
            writer.text(RequestID.header)
            writer.text(": ")
            writer.string(id)
            writer.text("\r\n")
        }
        if isStreamed {
            // HTTP/1.0 knows no chunks: there the body ends with the connection.
            if !request.isHTTP10 { writer.text("transfer-encoding: chunked\r\n") }
        } else if status.code != 204 && status.code != 304 && status.code >= 200 {
            writer.text("content-length: ")
            writer.number(body.count)
            writer.text("\r\n")
        }
        if !request.keepsAlive {
            writer.text("connection: close\r\n")
        } else if request.isHTTP10 {
            writer.text("connection: keep-alive\r\n")
        }
        writer.text("\r\n")
    }
}

/// What of a request decides how its response is framed, and the request's id.
struct RequestTraits {
    var id: String?
    var keepsAlive = false
    var isHTTP10 = false
    var isHead = false
}

/// Writes the parts of a response one after the other into memory that has room for all of them.
struct HeadWriter {
    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes have been written.
    private(set) var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    mutating func bytes(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    mutating func text(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    mutating func number(_ number: Int) {
        withUnsafeTemporaryAllocation(byteCount: JSONMemory.maximumIntLength, alignment: 1) { digits in
            guard let start = digits.baseAddress else { return }
            append(UnsafeRawBufferPointer(start: start, count: JSONMemory.int(Int64(number), to: start)))
        }
    }

    mutating func field(_ name: String, _ value: String) {
        string(name)
        text(": ")
        string(value)
        text("\r\n")
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, let start = memory.baseAddress else { return }
        precondition(memory.count - count >= bytes.count, "The memory for a response must have room for all its parts.")
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }
}

/// The value of `Date`, written once a second.
final class DateField: Sendable {
    private let now: @Sendable () -> Int64
    private let last = Mutex<(second: Int64, text: [UInt8])>((-1, []))

    /// A clock that takes Unix milliseconds from `now`.
    init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// The present time.
    var text: [UInt8] {
        let second = now() / 1000
        return last.withLock { last in
            if last.second != second { last = (second, Array(HTTPDate.text(secondsSince1970: second).utf8)) }
            return last.text
        }
    }
}
