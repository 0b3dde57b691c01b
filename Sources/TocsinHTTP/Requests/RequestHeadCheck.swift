import GraphQLTransport
import HTTPTypes
import NIOHTTP1

/// What is checked of a request head beyond what the parser refuses: nothing that two servers could read in two ways
/// passes (RFC 9112 §3.2, §6.3, §11).
struct RequestHeadCheck {
    let settings: HTTPServerSettings

    /// What the head says of the body, and the parts of the target.
    struct Verdict {
        var path: String
        var queryString: String
        var declaredBodyBytes: Int?
        var hasBody: Bool
        var expectsContinue = false
    }

    func verdict(on head: HTTPRequestHead) throws(HTTPRefusal) -> Verdict {
        try checkSize(of: head)
        try checkHost(of: head)
        guard head.headers["authorization"].count <= 1 else {
            throw bad("At most one Authorization header may be sent.")
        }
        let (path, queryString) = try target(of: head)
        var verdict = Verdict(path: path, queryString: queryString, declaredBodyBytes: nil, hasBody: false)
        try checkFraming(of: head, &verdict)
        try checkExpectation(of: head, &verdict)
        return verdict
    }

    private func checkSize(of head: HTTPRequestHead) throws(HTTPRefusal) {
        guard head.uri.utf8.count <= settings.maximumTargetBytes else {
            throw HTTPRefusal.targetTooLong(settings)
        }
        var bytes = head.uri.utf8.count
        for field in head.headers { bytes += field.name.utf8.count + field.value.utf8.count + 4 }
        guard bytes <= settings.maximumHeadBytes, head.headers.count <= settings.maximumHeadFields else {
            throw HTTPRefusal.headTooLarge(settings)
        }
    }

    private func checkHost(of head: HTTPRequestHead) throws(HTTPRefusal) {
        let hosts = head.headers["host"]
        if hosts.isEmpty, head.version == .http1_0 { return }
        guard hosts.count == 1 else { throw bad("Exactly one Host header is needed; \(hosts.count) were sent.") }
        let isPlain = hosts[0].utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~:[]%!$&'()*+;=".utf8.contains(byte)
            }
        }
        guard isPlain, !hosts[0].isEmpty else { throw bad("The Host header does not name a host.") }
    }

    private func target(of head: HTTPRequestHead) throws(HTTPRefusal) -> (path: String, queryString: String) {
        guard head.uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !head.uri.utf8.contains(UInt8(ascii: "#"))
        else {
            throw bad("The request target has characters that must be percent-encoded.")
        }
        var target = head.uri[...]
        if let scheme = ["http://", "https://"].first(where: { target.lowercased().hasPrefix($0) }) {
            let afterHost = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
            target = afterHost.isEmpty ? "/" : afterHost
        }
        guard target.first == "/" || (target == "*" && head.method == .OPTIONS) else {
            throw bad("The request target must begin with a slash.")
        }
        guard let mark = target.firstIndex(of: "?") else { return (String(target), "") }
        return (String(target[..<mark]), String(target[target.index(after: mark)...]))
    }

    private func checkFraming(of head: HTTPRequestHead, _ verdict: inout Verdict) throws(HTTPRefusal) {
        let codings = head.headers["transfer-encoding"]
        let lengths = head.headers["content-length"]
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw bad("Content-Length and Transfer-Encoding exclude each other.") }
            guard head.version == .http1_1 else { throw bad("Transfer-Encoding needs HTTP/1.1.") }
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                let message = "This Transfer-Encoding is not served. Send chunked, or a Content-Length."
                throw HTTPRefusal(.notImplemented, message, .badRequest)
            }
            verdict.hasBody = true
        }
        guard let length = lengths.first else { return }
        guard lengths.count == 1, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), length.utf8.count <= 18,
            let count = Int(length)
        else {
            throw bad("Content-Length must be one number.")
        }
        guard count <= settings.maximumBodyBytes else { throw HTTPRefusal.bodyTooLarge(settings) }
        verdict.declaredBodyBytes = count
        verdict.hasBody = count > 0
    }

    private func checkExpectation(of head: HTTPRequestHead, _ verdict: inout Verdict) throws(HTTPRefusal) {
        let expectations = head.headers["expect"]
        guard !expectations.isEmpty, head.version == .http1_1 else { return }
        guard expectations.count == 1, expectations[0].lowercased() == "100-continue" else {
            throw HTTPRefusal(.expectationFailed, "This Expect is not served. Send 100-continue or none.", .badRequest)
        }
        verdict.expectsContinue = verdict.hasBody
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

    static func bodyTooLarge(_ settings: HTTPServerSettings) -> HTTPRefusal {
        let message = "The request body is larger than \(settings.maximumBodyBytes) bytes. Send less in one request."
        return HTTPRefusal(.contentTooLarge, message, .badRequest)
    }
}
