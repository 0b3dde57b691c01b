package import GraphQLTransport
package import HTTPTypes
package import NIOCore
import NIOHTTP1

/// One complete HTTP request.
package struct IncomingRequest: Sendable {
    /// The method.
    package let method: HTTPRequest.Method
    /// The target's path as sent, not percent-decoded.
    package let path: String
    /// What follows the target's question mark; empty when there is none.
    package let queryString: String
    /// The body in one piece.
    package internal(set) var body: ByteBuffer
    /// The address it came from, if known.
    package let remoteAddress: String?

    let headers: HTTPHeaders
    let keepsAlive: Bool
    let isHTTP10: Bool
    /// The connection's number and the request's number on it.
    let id: String
    let startedAt: NIODeadline

    /// Whether the method promises to change nothing.
    var isRead: Bool { method == .get || method == .head }

    /// The value of a header field; several are joined by commas.
    package func header(_ name: String) -> String? {
        let values = headers[name]
        return values.count <= 1 ? values.first : values.joined(separator: ", ")
    }

    /// The elements of a header field that is a list, in lower case.
    func tokens(_ name: String) -> [String] {
        headers[canonicalForm: name].map { $0.lowercased() }
    }

    /// What the client sent to show who it is.
    package var credentials: Credentials {
        Credentials(
            authorization: headers["authorization"].first,
            apiKey: headers["x-api-key"].first,
            remoteAddress: remoteAddress
        )
    }
}
