import GraphQLTransport
import HTTPTypes
import NIOHTTP1

/// Refuses request heads that the parser lets pass and two servers could read in two ways (RFC 9112
/// §3.2, §6.3, §11).
///
/// A class, because all connections share the one there is.
final class RequestHeadCheck: Sendable {
    let settings: HTTPServerSettings

    init(_ settings: HTTPServerSettings) { self.settings = settings }

    /// The parts of the head, and what it says of the body.
    struct CheckedHead {
        let method: HTTPRequest.Method
        let path: String
        let sentPath: String
        let queryString: String
        let fields: KnownFields
        let hasChunks: Bool
        let expectsContinue: Bool
    }

    func checked(_ head: HTTPRequestHead) throws(HTTPRefusal) -> CheckedHead {
        let fields = KnownFields(head.headers)
        try checkSize(of: head, fields)
        try checkHost(of: head, fields)
        guard !fields.isRepeated(.authorization) else {
            throw ambiguous("At most one Authorization header may be sent.")
        }
        let (path, queryString) = try target(of: head)
        let hasChunks = try hasChunks(head, fields)
        _ = try bodyLength(fields, in: head.headers, maximum: .max)
        let expectsContinue = try expectsContinue(head, fields)
        guard let method = Self.method(of: head) else {
            throw HTTPRefusal(.notImplemented, "This method is not served.", .badRequest)
        }
        return CheckedHead(
            method: method,
            path: settings.innerPath(path),
            sentPath: path,
            queryString: queryString,
            fields: fields,
            hasChunks: hasChunks,
            expectsContinue: expectsContinue
        )
    }

    /// The length of the body behind a head of these fields, in bytes; 0 where none is given.
    func bodyLength(
        _ fields: KnownFields,
        in headers: HTTPHeaders,
        maximum: Int
    ) throws(HTTPRefusal) -> Int {
        guard let length = fields.value(.contentLength, in: headers) else { return 0 }
        guard !fields.isRepeated(.contentLength), (1...18).contains(length.utf8.count) else {
            throw ambiguous("Content-Length must be one number.")
        }
        var count = 0
        for digit in length.utf8 {
            guard (0x30...0x39).contains(digit) else { throw ambiguous("Content-Length must be one number.") }
            count = count * 10 + Int(digit - 0x30)
        }
        guard count <= maximum else { throw HTTPRefusal.bodyTooLarge(settings.maximumBodyBytes) }
        return count
    }

    private static func method(of head: HTTPRequestHead) -> HTTPRequest.Method? {
        switch head.method {
        case .GET: .get
        case .POST: .post
        default: HTTPRequest.Method(head.method.rawValue)
        }
    }

    private func checkSize(of head: HTTPRequestHead, _ fields: KnownFields) throws(HTTPRefusal) {
        let targetBytes = head.uri.utf8.count
        guard targetBytes <= settings.maximumTargetBytes else { throw HTTPRefusal.targetTooLong(settings) }
        guard targetBytes + fields.bytes <= settings.maximumHeadBytes,
            head.headers.count <= settings.maximumHeadFields
        else {
            throw HTTPRefusal.headTooLarge(settings)
        }
    }

    private func checkHost(of head: HTTPRequestHead, _ fields: KnownFields) throws(HTTPRefusal) {
        guard let host = fields.single(.host) else {
            let count = head.headers["host"].count
            if count == 0, head.version == .http1_0 { return }
            throw ambiguous("Exactly one Host header is needed; \(count) were sent.")
        }
        let isPlain = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"):
                true
            default: "_~[]%!$&'()*+;=".utf8.contains(byte)
            }
        }
        guard isPlain, !host.isEmpty else { throw bad("The Host header does not name a host.") }
    }

    private func target(of head: HTTPRequestHead) throws(HTTPRefusal) -> (path: String, queryString: String) {
        let isPlain = head.uri.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
        guard isPlain else {
            throw bad("The request target has characters that must be percent-encoded.")
        }
        // Bytes are characters here.
        let question = UInt8(ascii: "?")
        var target = head.uri.utf8[...]
        if target.first != UInt8(ascii: "/") {
            target = try absoluteTarget(of: head).utf8
        }
        guard let mark = target.firstIndex(of: question) else { return (String(Substring(target)), "") }
        let rest = target[target.index(after: mark)...]
        return (String(Substring(target[..<mark])), String(Substring(rest)))
    }

    /// The target of a request that does not begin with a slash.
    private func absoluteTarget(of head: HTTPRequestHead) throws(HTTPRefusal) -> Substring {
        var target = head.uri[...]
        if let scheme = ["http://", "https://"].first(where: { target.lowercased().hasPrefix($0) }) {
            let afterHost = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
            target = afterHost.isEmpty ? "/" : afterHost
        }
        guard target.first == "/" || (target == "*" && head.method == .OPTIONS) else {
            throw bad("The request target must begin with a slash.")
        }
        return target
    }

    /// Whether the body comes in chunks.
    private func hasChunks(_ head: HTTPRequestHead, _ fields: KnownFields) throws(HTTPRefusal) -> Bool {
        guard let coding = fields[.transferEncoding] else { return false }
        guard !fields.has(.contentLength) else {
            throw ambiguous("Content-Length and Transfer-Encoding exclude each other.")
        }
        guard head.version == .http1_1 else { throw ambiguous("Transfer-Encoding needs HTTP/1.1.") }
        guard !fields.isRepeated(.transferEncoding), coding.lowercased() == "chunked" else {
            let message = "This Transfer-Encoding is not served. Send chunked, or a Content-Length."
            throw HTTPRefusal(.notImplemented, message, .badRequest)
        }
        return true
    }

    /// Whether the client sends a body only when it is told to.
    private func expectsContinue(_ head: HTTPRequestHead, _ fields: KnownFields) throws(HTTPRefusal) -> Bool {
        guard let expectation = fields[.expect], head.version == .http1_1 else { return false }
        guard !fields.isRepeated(.expect), expectation.lowercased() == "100-continue" else {
            throw HTTPRefusal(.expectationFailed, "This Expect is not served. Send 100-continue or none.", .badRequest)
        }
        return true
    }

    /// What two servers could read in two ways.
    private func ambiguous(_ message: String) -> HTTPRefusal {
        var refusal = bad(message)
        refusal.isAmbiguous = true
        return refusal
    }

    private func bad(_ message: String) -> HTTPRefusal { HTTPRefusal(.badRequest, message, .badRequest) }
}

extension HTTPRefusal {
    static func headTooLarge(_ settings: HTTPServerSettings) -> HTTPRefusal {
        let most = "\(settings.maximumHeadBytes) bytes and \(settings.maximumHeadFields) fields"
        return HTTPRefusal(
            .requestHeaderFieldsTooLarge,
            "The request head is too large; \(most) are accepted.",
            .badRequest
        )
    }

    static func targetTooLong(_ settings: HTTPServerSettings) -> HTTPRefusal {
        let most = settings.maximumTargetBytes
        let message = "The request target is longer than \(most) bytes. Send the request with POST."
        return HTTPRefusal(.uriTooLong, message, .badRequest)
    }

    static func bodyTooLarge(_ bytes: Int) -> HTTPRefusal {
        let message = "The request body is larger than \(bytes) bytes. Send less in one request."
        return HTTPRefusal(.contentTooLarge, message, .badRequest)
    }
}

extension HTTPRefusal {
    /// The answer to bytes the parser does not take; `nil` when nobody waits for one.
    static func refusal(of error: any Error, _ input: RawInput, _ settings: HTTPServerSettings) -> HTTPRefusal? {
        guard let error = error as? HTTPParserError else { return nil }
        let message: String
        switch error {
        case .headerOverflow:
            return input.lineBytes > settings.maximumTargetBytes ? targetTooLong(settings) : headTooLarge(settings)
        case .invalidEOFState, .closedConnection: return nil
        case .invalidVersion: message = "Only HTTP/1.1 and HTTP/1.0 are spoken, with CR LF at the ends of lines."
        case .invalidMethod: message = "This method is unknown."
        default: message = "The request is not well-formed HTTP/1.1."
        }
        var refusal = HTTPRefusal(.badRequest, message, .badRequest)
        // An impossible Transfer-Encoding is told as unknown.
        refusal.isAmbiguous = [.invalidContentLength, .unexpectedContentLength, .unknown].contains(error)
        return refusal
    }
}
