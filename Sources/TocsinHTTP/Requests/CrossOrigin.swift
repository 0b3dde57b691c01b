import GraphQLTransport
import HTTPTypes
import NIOHTTP1

/// Which web pages of other hosts may use the server, and how (Fetch: CORS).
package struct CrossOriginSettings: Sendable, Hashable {
    /// Origins that may open sockets and read answers: none by default.
    ///
    /// Written as `https://host`; `*` means any.
    package var allowedOrigins: [String] = []
    /// The methods a page may use.
    package var methods = ["GET", "POST", "OPTIONS"]
    /// The request fields a page may set.
    package var requestFields = [
        "authorization", "content-type", "accept", "x-api-key", "last-event-id", "apollo-require-preflight",
        "x-apollo-operation-name", "graphql-require-preflight", "x-amz-user-agent", "x-amz-date",
        "x-amz-security-token", "x-device-id",
    ]
    /// The response fields a page may read beyond the plain ones.
    package var responseFields = ["retry-after", "www-authenticate", "x-request-id"]
    /// How long a browser may remember what it was told.
    package var maximumAgeSeconds = 600

    /// No page of another host may do anything.
    package init() {}
}

/// Decides on requests that pages of other origins make (Fetch: CORS; RFC 6455 §10.2).
struct CrossOrigin: Sendable {
    private let settings: CrossOriginSettings
    private let listed: [String]
    private let isOpen: Bool

    init(_ settings: CrossOriginSettings) {
        self.settings = settings
        listed = settings.allowedOrigins.map { $0.lowercased() }
        isOpen = listed.contains("*")
    }

    /// Whether a socket may be opened: no origin is a native app, and our own host is fine.
    func mayOpenSocket(_ request: IncomingRequest) -> Bool {
        guard request.fields.has(.origin) else { return true }
        guard let origin = request.fields.single(.origin) else { return false }
        if isAllowed(origin) { return true }
        guard let host = request.fields[.host]?.lowercased() else { return false }
        return origin.lowercased() == "https://\(host)" || origin.lowercased() == "http://\(host)"
    }

    /// What lets the page of a listed origin read the answer.
    func fields(for request: IncomingRequest) -> [(name: String, value: String)] {
        guard !listed.isEmpty else { return [] }
        // One answer for all may be kept for all.
        let vary = isOpen ? [] : [(name: "vary", value: "origin")]
        guard let origin = request.fields.single(.origin), isAllowed(origin) else { return vary }
        var fields = leave(origin) + vary
        if !settings.responseFields.isEmpty {
            fields.append(("access-control-expose-headers", settings.responseFields.joined(separator: ", ")))
        }
        return fields
    }

    /// The answer to a browser's question before the request itself; `nil` when this is none.
    func preflight(of request: IncomingRequest) -> OutgoingResponse? {
        guard request.method == .options, let origin = request.fields.single(.origin),
            request.headers.contains(name: "access-control-request-method")
        else { return nil }
        let vary = (name: "vary", value: "origin, access-control-request-method, access-control-request-headers")
        guard isAllowed(origin) else {
            let message = "Pages of this origin may not use the server. List it in the allowed origins."
            var response = OutgoingResponse(HTTPRefusal(.forbidden, message, .unauthorized))
            response.fields.append(vary)
            return response
        }
        var response = OutgoingResponse(status: .noContent, contentType: nil, fields: leave(origin))
        response.fields += [
            ("access-control-allow-methods", settings.methods.joined(separator: ", ")),
            ("access-control-allow-headers", settings.requestFields.joined(separator: ", ")),
            ("access-control-max-age", "\(settings.maximumAgeSeconds)"),
            vary,
        ]
        return response
    }

    private func leave(_ origin: String) -> [(name: String, value: String)] {
        if isOpen { return [("access-control-allow-origin", "*")] }
        // Nothing of what a browser knows of its reader is read here, so none of it is asked for.
        return [("access-control-allow-origin", origin)]
    }

    private func isAllowed(_ origin: String) -> Bool { isOpen || listed.contains(origin.lowercased()) }
}
