package import Encodings
package import GraphQLTransport
package import HTTPTypes
import JSON
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
        private(set) var proxies: TrustedProxies?
        /// nil: no cookie is looked at.
        let cookies: SessionCookies?
        /// What the ids of its requests begin with.
        let name: String
        /// Whether a peer without an address comes over a socket in the file system.
        private let isFromHere: Bool
        private var rules: FrontRules

        init(
            peer: IPAddress?,
            isFromHere: Bool,
            _ rules: FrontRules,
            cookies: SessionCookies?,
            name: String
        ) {
            (self.peer, self.isFromHere, self.rules) = (peer, isFromHere, rules)
            (self.cookies, self.name) = (cookies, name)
            proxies = Self.proxies(rules, of: peer, isFromHere)
        }

        /// Goes by these rules from the next request on; answers whether they are others.
        mutating func take(_ new: FrontRules) -> Bool {
            guard new !== rules else { return false }
            (rules, proxies) = (new, Self.proxies(new, of: peer, isFromHere))
            return true
        }

        private static func proxies(_ rules: FrontRules, of peer: IPAddress?, _ isFromHere: Bool) -> TrustedProxies? {
            (peer.map(rules.proxies.trust) ?? isFromHere) ? rules.proxies : nil
        }

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
    /// The path below the base path; empty where it is not below it.
    let path: String
    /// The path as it was sent.
    let sentPath: String
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
    /// The same with the session of a browser, for GraphQL's path.
    let ownCredentials: Credentials
    /// Why the session that was sent does not count; nil where it does, or there is none.
    let sessionRefusal: String?
    /// What matters of it to GraphQL over HTTP, whether no form can have sent
    /// it, and what is agreed on.
    let exchange: HTTPExchange
    let isBeyondForms: Bool
    let negotiation: Result<HTTPExchange.Agreement, HTTPRefusal>
    private let line: (method: HTTPMethod, uri: String, version: HTTPVersion)
    private let madeFingerprint = Mutex<[UInt8]?>(nil)

    init(_ head: HTTPRequestHead, _ checked: RequestHeadCheck.CheckedHead, of connection: Connection) {
        self.connection = connection
        method = checked.method
        (path, sentPath) = (checked.path, checked.sentPath)
        queryString = checked.queryString
        fields = checked.fields
        keepsAlive = head.isKeepAlive
        isHTTP10 = head.version == .http1_0
        hasChunks = checked.hasChunks
        expectsContinue = checked.expectsContinue
        client = connection.client(fields)
        credentials = Credentials(
            authorization: fields[.authorization],
            apiKey: fields[.apiKey],
            remoteAddress: client.map { "\($0)" }
        )
        (ownCredentials, sessionRefusal) = Self.withSession(credentials, fields, method, connection.cookies)
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

    /// The credentials with a browser's session, which counts only where there is nothing else.
    private static func withSession(
        _ credentials: Credentials,
        _ fields: KnownFields,
        _ method: HTTPRequest.Method,
        _ cookies: SessionCookies?
    ) -> (Credentials, refusal: String?) {
        guard let cookies, fields.has(.cookie), credentials.isEmpty, method == .post else { return (credentials, nil) }
        switch cookies.evidence(in: fields, method) {
        case .absent: return (credentials, nil)
        case .refused(let lack): return (credentials, lack)
        case .shown(let secret):
            var credentials = credentials
            credentials.cookie = secret
            return (credentials, nil)
        }
    }

    /// Whether what is known of this head holds for another one too; only the length of
    /// the body may be another.
    func covers(_ head: HTTPRequestHead, maximumBytes: Int) -> Bool {
        guard line.uri.hasBytes(of: head.uri), line.method == head.method, line.version == head.version else {
            return false
        }
        return fields.cover(head.headers, maximumBytes: maximumBytes - line.uri.utf8.count)
    }

    /// What stands for the credentials, made by `make` when it is first asked for.
    func fingerprint(_ make: (Credentials) -> [UInt8]) -> [UInt8] {
        if let made = madeFingerprint.withLock({ $0 }) { return made }
        let new = make(ownCredentials)
        madeFingerprint.withLock { $0 = new }
        return new
    }
}

/// One complete HTTP request; a class, because everything that has to do with it
/// shares the one there is.
package final class IncomingRequest: Sendable {
    /// What came before the body, as the server understands it.
    let head: RequestHead
    /// All header fields as they were sent.
    let headers: HTTPHeaders
    /// The body in one piece.
    package let body: ByteBuffer
    let startedAt: NIODeadline
    /// What it is called in the log, in `X-Request-Id`, in errors and in the audit.
    package let id: String
    /// What the body has of the memory budget, as long as the request is there.
    private let share: MemoryShare?

    init(
        _ head: RequestHead,
        _ headers: HTTPHeaders,
        body: ByteBuffer,
        share: MemoryShare?,
        startedAt: NIODeadline,
        id: String
    ) {
        self.head = head
        self.headers = headers
        self.body = body
        self.share = share
        self.startedAt = startedAt
        self.id = id
    }

    /// The method.
    package var method: HTTPRequest.Method { head.method }

    /// The target's path below the base path as sent, not percent-decoded.
    package var path: String { head.path }

    /// What follows the target's question mark; empty when there is none.
    package var queryString: String { head.queryString }

    /// What the client sent to show who it is.
    package var credentials: Credentials { head.credentials }

    /// Who sent it: the other end of the connection, or whom a trusted proxy names.
    package var clientAddress: IPAddress? { head.client }

    /// The fields that the server looks at.
    var fields: KnownFields { head.fields }

    /// Where it came from, for what is noted of changes.
    package var source: RequestSource {
        var source = RequestSource(remoteAddress: head.credentials.remoteAddress, id: id)
        source.isOfBrowserSession = head.ownCredentials.cookie != nil
        source.userAgent = fields.single(.userAgent)
        source.deviceID = fields.single(.deviceID)
        return source
    }

    /// Whether the method promises to change nothing.
    var isRead: Bool { method == .get || method == .head }

    /// The value of a header field; several are joined by commas.
    package func header(_ name: String) -> String? { headers.joined(name) }

    /// All header fields in the order in which they were sent.
    package var headerFields: [(name: String, value: String)] { Array(headers) }

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

/// The fields of a request head that the server looks at, found in one walk
/// over all that were sent.
struct KnownFields: Sendable {
    /// A field that the server looks at.
    enum Name: Int {
        case host, accept, expect, origin, upgrade, apiKey, connection, contentType, authorization, contentLength
        case contentEncoding, transferEncoding, forwarded, forwardedFor
        case cookie, fetchSite, console, requestID, userAgent, deviceID

        /// The field's name as it is written, in lower case.
        private var text: StaticString {
            switch self {
            case .host: "host"
            case .accept: "accept"
            case .expect: "expect"
            case .origin: "origin"
            case .upgrade: "upgrade"
            case .apiKey: "x-api-key"
            case .connection: "connection"
            case .contentType: "content-type"
            case .authorization: "authorization"
            case .contentLength: "content-length"
            case .contentEncoding: "content-encoding"
            case .transferEncoding: "transfer-encoding"
            case .forwarded: "forwarded"
            case .forwardedFor: "x-forwarded-for"
            case .cookie: "cookie"
            case .fetchSite: "sec-fetch-site"
            case .console: "x-tocsin-console"
            case .requestID: RequestID.header
            case .userAgent: "user-agent"
            case .deviceID: "x-device-id"
            }
        }

        /// The field of this name, whatever its case.
        init?(_ name: String) {
            guard let first = name.utf8.first else { return nil }
            let candidate: Name?
            switch (name.utf8.count, first | 0x20) {
            case (4, UInt8(ascii: "h")): candidate = .host
            case (6, UInt8(ascii: "a")): candidate = .accept
            case (6, UInt8(ascii: "e")): candidate = .expect
            case (6, UInt8(ascii: "o")): candidate = .origin
            case (7, UInt8(ascii: "u")): candidate = .upgrade
            case (9, UInt8(ascii: "x")): candidate = .apiKey
            case (9, UInt8(ascii: "f")): candidate = .forwarded
            case (10, UInt8(ascii: "c")): candidate = .connection
            case (10, UInt8(ascii: "u")): candidate = .userAgent
            case (11, UInt8(ascii: "x")): candidate = .deviceID
            case (12, UInt8(ascii: "c")): candidate = .contentType
            case (12, UInt8(ascii: "x")): candidate = .requestID
            case (13, UInt8(ascii: "a")): candidate = .authorization
            case (14, UInt8(ascii: "c")): candidate = .contentLength
            case (15, UInt8(ascii: "x")): candidate = .forwardedFor
            case (6, UInt8(ascii: "c")): candidate = .cookie
            case (14, UInt8(ascii: "s")): candidate = .fetchSite
            case (16, UInt8(ascii: "x")): candidate = .console
            case (16, UInt8(ascii: "c")): candidate = .contentEncoding
            case (17, UInt8(ascii: "t")): candidate = .transferEncoding
            default: candidate = nil
            }
            guard let candidate, candidate.isSpelled(name) else { return nil }
            self = candidate
        }

        /// Whether a name of the same length is this one; the parser takes only
        /// bytes of tokens in names.
        private func isSpelled(_ name: String) -> Bool {
            let text = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            // Bit 5 tells small letters from capitals; a hyphen has it.
            let isSame = name.utf8.withContiguousStorageIfAvailable { bytes in
                bytes.indices.allSatisfy { bytes[$0] | 0x20 == text[$0] }
            }
            return isSame ?? name.utf8.elementsEqual(text, by: { $0 | 0x20 == $1 })
        }
    }

    /// All fields that were sent.
    private let sent: [(name: String, value: String)]
    /// The position of each field's first value among all that were sent, counted from 1; 0 where
    /// it was not sent.
    private var positions = SIMD32<UInt16>.zero
    /// The fields that were sent more than once, by their bits.
    private var repeated: UInt32 = 0
    /// One bit for each value that is looked at whenever it comes, but for the body's length and
    /// the request's id, which each request has anew; complete for heads of up to 64 fields.
    private var looked: UInt64 = 0
    /// What names and values take in the head, in bytes.
    private(set) var bytes = 0

    /// The fields of this head; of more than the parser takes the last ones are not looked at.
    init(_ headers: HTTPHeaders) {
        sent = Array(headers)
        var position: UInt16 = 0
        for (name, value) in sent where position < .max {
            position += 1
            bytes += name.utf8.count + value.utf8.count + 4
            guard let known = Name(name) else { continue }
            if known != .contentLength, known != .requestID { looked |= 1 << UInt64(position - 1) }
            if positions[known.rawValue] == 0 {
                positions[known.rawValue] = position
            } else {
                repeated |= 1 << UInt32(known.rawValue)
            }
        }
    }

    /// The first value of a field, in the head that these were made of.
    subscript(name: Name) -> String? { has(name) ? sent[Int(positions[name.rawValue]) - 1].value : nil }

    /// The value of a field in a head that these fields cover.
    func value(_ name: Name, in headers: HTTPHeaders) -> String? {
        guard has(name) else { return nil }
        return headers[headers.index(headers.startIndex, offsetBy: Int(positions[name.rawValue]) - 1)].value
    }

    /// All values of a field, joined by commas unless something else is asked for.
    func joined(_ name: Name, separator: String = ", ") -> String? {
        guard isRepeated(name) else { return self[name] }
        return sent.filter { Name($0.name) == name }.map(\.value).joined(separator: separator)
    }

    /// Whether what is known of these fields holds for another head, of so many bytes at most.
    ///
    /// It does if the head has the same names in the same order, and the same values of all fields
    /// that the server looks at but the body's length and the request's id.
    func cover(_ other: HTTPHeaders, maximumBytes: Int) -> Bool {
        guard other.count == sent.count, sent.count <= 64 else { return false }
        var room = maximumBytes
        var rest = looked
        var index = other.startIndex
        for mine in sent {
            let (name, value) = other[index]
            guard name.hasBytes(of: mine.name), rest & 1 == 0 || value.hasBytes(of: mine.value) else { return false }
            room -= name.utf8.count + value.utf8.count + 4
            rest >>= 1
            index = other.index(after: index)
        }
        return room >= 0
    }

    /// Whether a field was sent.
    func has(_ name: Name) -> Bool { positions[name.rawValue] != 0 }

    /// Whether a field was sent more than once.
    func isRepeated(_ name: Name) -> Bool { repeated & 1 << UInt32(name.rawValue) != 0 }

    /// The value of a field that was sent once.
    func single(_ name: Name) -> String? { isRepeated(name) ? nil : self[name] }
}

extension String {
    /// Whether both are the same bytes: `==` takes two spellings of a letter for one.
    func hasBytes(of other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable {
                UnsafeRawBufferPointer(mine).hasBytes(of: UnsafeRawBufferPointer($0))
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
