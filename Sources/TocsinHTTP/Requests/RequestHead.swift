package import GraphQLTransport
package import HTTPTypes
package import NIOCore
import NIOHTTP1
import Synchronization

/// A request head that has passed all checks, and what follows from it alone.
///
/// It is an object because a connection keeps its last one. A client that stays sends nearly the
/// same head each time, and what was found out once holds while the fields that the server looks at
/// are the same.
final class RequestHead: Sendable {
    /// Whose requests these are.
    struct Connection: Sendable {
        /// Who is at the other end: a client, or a proxy.
        let peer: IPAddress?
        /// Whose word on where requests came from is taken, where the peer is a proxy.
        let proxies: TrustedProxies?
        let number: Int

        /// Who sent a request of these fields.
        func client(_ fields: KnownFields) -> IPAddress? {
            guard let proxies else { return peer }
            return proxies.client(
                forwardedFor: fields.joined(.forwardedFor),
                forwarded: fields.joined(.forwarded)
            ) ?? peer
        }
    }

    let connection: Connection
    let method: HTTPRequest.Method
    let path: String
    let queryString: String
    let fields: KnownFields
    let keepsAlive: Bool
    let isHTTP10: Bool
    let hasChunks: Bool
    let expectsContinue: Bool
    /// Who sent the request: the other end of the connection, or whom a proxy of ours names.
    let client: IPAddress?
    /// What the client sent to show who it is.
    let credentials: Credentials
    /// What matters of it to GraphQL over HTTP, whether no form can have sent it, and what is agreed on.
    let exchange: HTTPExchange
    let isBeyondForms: Bool
    let negotiation: Result<HTTPExchange.Agreement, HTTPRefusal>
    private let line: (method: HTTPMethod, uri: String, version: HTTPVersion)
    private let madeFingerprint = Mutex<[UInt8]?>(nil)

    init(_ head: HTTPRequestHead, _ verdict: RequestHeadCheck.Verdict, of connection: Connection) {
        self.connection = connection
        method = verdict.method
        path = verdict.path
        queryString = verdict.queryString
        fields = verdict.fields
        keepsAlive = head.isKeepAlive
        isHTTP10 = head.version == .http1_0
        hasChunks = verdict.hasChunks
        expectsContinue = verdict.expectsContinue
        client = connection.client(fields)
        credentials = Credentials(
            authorization: fields[.authorization],
            apiKey: fields[.apiKey],
            remoteAddress: client.map { "\($0)" }
        )
        exchange = HTTPExchange(
            method: method,
            contentType: fields.joined(.contentType),
            contentEncoding: fields.joined(.contentEncoding),
            accept: fields.joined(.accept)
        )
        isBeyondForms = exchange.isBeyondForms
        negotiation = exchange.negotiated()
        line = (head.method, head.uri, head.version)
    }

    /// Whether what is known of this head holds for another one too; only the length of the body may be another.
    func covers(_ head: HTTPRequestHead, maximumBytes: Int) -> Bool {
        guard line.uri.hasBytes(of: head.uri), line.method == head.method, line.version == head.version else {
            return false
        }
        return fields.cover(head.headers, maximumBytes: maximumBytes - line.uri.utf8.count)
    }

    /// What stands for the credentials, made by `make` when it is first asked for.
    func fingerprint(_ make: (Credentials) -> [UInt8]) -> [UInt8] {
        if let made = madeFingerprint.withLock({ $0 }) { return made }
        let new = make(credentials)
        madeFingerprint.withLock { $0 = new }
        return new
    }
}

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
