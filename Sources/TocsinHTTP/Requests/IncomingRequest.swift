package import GraphQLTransport
package import HTTPTypes
package import NIOCore
import NIOHTTP1

/// One complete HTTP request; a class, because everything that has to do with it shares the one there is.
package final class IncomingRequest: Sendable {
    /// The method.
    package let method: HTTPRequest.Method
    /// The target's path as sent, not percent-decoded.
    package let path: String
    /// What follows the target's question mark; empty when there is none.
    package let queryString: String
    /// The body in one piece.
    package let body: ByteBuffer
    /// The address it came from, if known.
    package let remoteAddress: String?

    let headers: HTTPHeaders
    let fields: KnownFields
    let keepsAlive: Bool
    let isHTTP10: Bool
    let startedAt: NIODeadline
    private let connectionNumber: Int
    private let number: Int

    /// What came before the body.
    struct Head {
        let method: HTTPRequest.Method
        let verdict: RequestHeadCheck.Verdict
        let headers: HTTPHeaders
        let keepsAlive: Bool
        let isHTTP10: Bool
        let startedAt: NIODeadline
    }

    init(_ head: Head, body: ByteBuffer, remoteAddress: String?, connectionNumber: Int, number: Int) {
        method = head.method
        path = head.verdict.path
        queryString = head.verdict.queryString
        fields = head.verdict.fields
        headers = head.headers
        keepsAlive = head.keepsAlive
        isHTTP10 = head.isHTTP10
        startedAt = head.startedAt
        self.body = body
        self.remoteAddress = remoteAddress
        self.connectionNumber = connectionNumber
        self.number = number
    }

    /// The connection's number and the request's number on it.
    var id: String { "\(connectionNumber)-\(number)" }

    /// Whether the method promises to change nothing.
    var isRead: Bool { method == .get || method == .head }

    /// The value of a header field; several are joined by commas.
    package func header(_ name: String) -> String? {
        let values = headers[name]
        return values.count <= 1 ? values.first : values.joined(separator: ", ")
    }

    /// The same of a field that is known; `name` is used where it was sent more than once.
    func header(_ known: KnownFields.Name, _ name: String) -> String? {
        fields.isRepeated(known) ? header(name) : fields[known]
    }

    /// The elements of a header field that is a list, in lower case.
    func tokens(_ name: String) -> [String] {
        headers[canonicalForm: name].map { $0.lowercased() }
    }

    /// What the client sent to show who it is.
    package var credentials: Credentials {
        Credentials(
            authorization: fields[.authorization],
            apiKey: fields[.apiKey],
            remoteAddress: remoteAddress
        )
    }
}
