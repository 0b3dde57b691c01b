package import GraphQLTransport
package import HTTPTypes
package import NIOCore
import NIOHTTP1

/// One complete HTTP request; a class, because everything that has to do with it shares the one there is.
package final class IncomingRequest: Sendable {
    /// What came before the body, as the server understands it.
    let head: RequestHead
    /// All header fields as they were sent.
    let headers: HTTPHeaders
    /// The body in one piece.
    package let body: ByteBuffer
    let startedAt: NIODeadline
    private let number: Int
    /// What the body has of the memory budget, as long as the request is there.
    private let share: MemoryShare?

    init(
        _ head: RequestHead,
        _ headers: HTTPHeaders,
        body: ByteBuffer,
        share: MemoryShare?,
        startedAt: NIODeadline,
        number: Int
    ) {
        self.head = head
        self.headers = headers
        self.body = body
        self.share = share
        self.startedAt = startedAt
        self.number = number
    }

    /// The method.
    package var method: HTTPRequest.Method { head.method }

    /// The target's path as sent, not percent-decoded.
    package var path: String { head.path }

    /// What follows the target's question mark; empty when there is none.
    package var queryString: String { head.queryString }

    /// What the client sent to show who it is.
    package var credentials: Credentials { head.credentials }

    /// Who sent it: the other end of the connection, or whom a trusted proxy names.
    package var clientAddress: IPAddress? { head.client }

    /// The fields that the server looks at.
    var fields: KnownFields { head.fields }

    /// The connection's number and the request's number on it.
    var id: String { "\(head.connection.number)-\(number)" }

    /// Whether the method promises to change nothing.
    var isRead: Bool { method == .get || method == .head }

    /// The value of a header field; several are joined by commas.
    package func header(_ name: String) -> String? { headers.joined(name) }

    /// The elements of a header field that is a list, in lower case.
    func tokens(_ name: String) -> [String] {
        headers[canonicalForm: name].map { $0.lowercased() }
    }
}

extension HTTPHeaders {
    /// The value of a field; several are joined by commas.
    func joined(_ name: String) -> String? {
        let values = self[name]
        return values.count <= 1 ? values.first : values.joined(separator: ", ")
    }
}
