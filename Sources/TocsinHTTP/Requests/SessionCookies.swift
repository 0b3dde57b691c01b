import GraphQLTransport
import HTTPTypes

/// Which cookie shows a browser's session, and when it counts (docs/security.md).
///
/// The server reads no other cookie but those that routes ask for by name.
package struct SessionCookies: Sendable, Hashable {
    /// Where browsers find the server.
    package enum Place: Sendable, Hashable {
        /// At this origin, as `https://push.example.com`, in lower case.
        case origin(String)
        /// Wherever a request says, if that is this machine.
        case loopback(scheme: String)
        /// Nowhere that a cookie would be safe.
        case unsafe
    }

    private let place: Place
    /// The path below which browsers send the cookies.
    package let path: String

    /// Cookies of a server that is found there, below this path.
    package init(_ place: Place, path: String = "/") { (self.place, self.path) = (place, path) }

    /// Our own origin for a request with this `Host`; nil where no cookie counts.
    package func origin(host: String?) -> String? {
        switch place {
        case .origin(let origin): return origin
        case .loopback(let scheme):
            guard let host = host?.lowercased(), Self.isLoopback(host) else { return nil }
            return scheme + "://" + host
        case .unsafe: return nil
        }
    }

    /// The cookie's name, for which browsers keep rules where it is safe.
    ///
    /// They take `__Host-` for cookies of a whole host alone (RFC 6265bis §4.1.3).
    package var name: String {
        guard isSecure else { return "tocsin" }
        return path == "/" ? "__Host-tocsin" : "__Secure-tocsin"
    }

    /// Whether browsers find the server by https.
    package var isSecure: Bool {
        switch place {
        case .origin(let origin): origin.hasPrefix("https:")
        case .loopback(let scheme): scheme == "https"
        case .unsafe: true
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        ["localhost", "127.0.0.1", "[::1]"].contains { name in
            guard host.hasPrefix(name) else { return false }
            let rest = host.dropFirst(name.count)
            return rest.isEmpty || (rest.first == ":" && UInt16(rest.dropFirst()) != nil)
        }
    }
}

/// What a request shows of a browser's session.
package enum SessionEvidence: Sendable, Hashable {
    /// Nothing.
    case absent
    /// The cookie's value; the request has all that it must have.
    case shown(String)
    /// A cookie, but not what must come with it; the text says what is missing.
    case refused(String)
}

extension SessionCookies {
    /// The header that a page of another site cannot send.
    package static let header = "x-tocsin-console"

    /// What a request shows, if its cookie is its only credential.
    ///
    /// - Parameter isRead: Whether the request only asks who it is by `GET`, which needs no body.
    func evidence(in fields: KnownFields, _ method: HTTPRequest.Method, isRead: Bool = false) -> SessionEvidence {
        guard fields.has(.cookie), let value = Self.value(name, in: fields) else { return .absent }
        if let lack = lack(in: fields, method, isRead: isRead) { return .refused(lack) }
        return .shown(value)
    }

    /// The session of a page that opens a socket; only those of our own origin have one.
    func evidence(ofUpgrade fields: KnownFields) -> SessionEvidence {
        guard fields.has(.cookie), let value = Self.value(name, in: fields),
            let origin = fields.single(.origin), origin.lowercased() == self.origin(host: fields.single(.host))
        else { return .absent }
        return .shown(value)
    }

    /// What a request lacks that only our own pages can send; nil where nothing.
    func lack(in fields: KnownFields, _ method: HTTPRequest.Method, isRead: Bool = false) -> String? {
        guard let origin = origin(host: fields.single(.host)) else {
            return
                "Sign-in by cookie needs https. Set TOCSIN_PUBLIC_URL to the https address of this server; plain http is "
                + "for localhost alone."
        }
        if !isRead {
            guard method == .post else { return "A request with a session's cookie must be a POST." }
            guard Self.isJSON(fields.single(.contentType)) else {
                return Self.needing("Content-Type: application/json")
            }
        }
        guard fields.single(.console) == "1" else {
            return Self.needing("X-Tocsin-Console: 1")
        }
        if fields.has(.fetchSite) {
            guard fields.single(.fetchSite) == "same-origin" else {
                return "Sec-Fetch-Site is not same-origin: the request came from a page of another origin."
            }
        } else if !isRead || fields.has(.origin) {
            guard fields.single(.origin)?.lowercased() == origin else {
                return "The header Origin is not \(origin), and Sec-Fetch-Site is not there."
            }
        }
        return nil
    }

    private static func needing(_ header: String) -> String {
        "A request that signs in or has a session's cookie needs the header \(header)."
    }

    private static func isJSON(_ type: String?) -> Bool {
        guard let type else { return false }
        let name = type.prefix { $0 != ";" && $0 != " " }
        return name.lowercased() == "application/json"
    }

    /// The value of a cookie that is there once; two of a name are none (RFC 6265 §5.4).
    static func value(_ name: String, in fields: KnownFields) -> String? {
        guard let header = fields.joined(.cookie, separator: "; ") else { return nil }
        let values = header.split(separator: ";").compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { return nil }
            return String(parts[1])
        }
        return values.count == 1 && !values[0].isEmpty ? values[0] : nil
    }
}

extension IncomingRequest {
    /// What the request shows of a session, for routes that take one; with a token or key, nothing.
    package func sessionEvidence(isRead: Bool = false) -> SessionEvidence {
        guard credentials.isEmpty else { return .absent }
        return head.connection.cookies?.evidence(in: fields, method, isRead: isRead) ?? .absent
    }

    /// What the request lacks that only our own pages can send; nil where nothing.
    package var lackOfOwnPage: String? {
        guard let cookies = head.connection.cookies else { return "This server takes no cookies." }
        return cookies.lack(in: fields, method)
    }

    /// Our own origin as the browser has it; nil where no cookie is safe.
    package var ownOrigin: String? { head.connection.cookies?.origin(host: fields.single(.host)) }

    /// Whether a page of our own origin sent it, under whatever name a proxy asks for us.
    var isFromOwnPage: Bool {
        guard let origin = fields.single(.origin)?.lowercased() else { return false }
        return origin == ownOrigin
    }

    /// The value of a cookie.
    package func cookie(_ name: String) -> String? { SessionCookies.value(name, in: fields) }
}
