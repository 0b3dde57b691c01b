import HTTPTypes
import NIOHTTP1

/// Which web pages may use the server (Fetch: CORS; RFC 6455 §10.2).
struct AllowedOrigins {
    private let listed: [String]

    init(_ listed: [String]) { self.listed = listed.map { $0.lowercased() } }

    /// Whether a socket may be opened: no origin is a native app, and our own host is fine.
    func mayOpenSocket(_ request: IncomingRequest) -> Bool {
        let origins = request.headers["origin"]
        guard let origin = origins.first?.lowercased() else { return true }
        guard origins.count == 1 else { return false }
        if isListed(origin) { return true }
        guard let host = request.headers["host"].first?.lowercased() else { return false }
        return origin == "https://\(host)" || origin == "http://\(host)"
    }

    /// What lets the page of a listed origin read the answer.
    func fields(for request: IncomingRequest) -> [(name: String, value: String)] {
        guard !listed.isEmpty else { return [] }
        guard let origin = request.headers["origin"].first, isListed(origin.lowercased()) else {
            return [("vary", "origin")]
        }
        return [("access-control-allow-origin", origin), ("vary", "origin")]
    }

    /// The answer to a browser's question before the request itself.
    func preflight(of request: IncomingRequest) -> OutgoingResponse? {
        guard request.method == .options, let origin = request.headers["origin"].first,
            isListed(origin.lowercased())
        else { return nil }
        let accepted = "authorization, content-type, x-api-key, x-amz-user-agent, x-amz-date, x-amz-security-token"
        var response = OutgoingResponse(status: .noContent, contentType: nil, fields: fields(for: request))
        response.fields += [
            ("access-control-allow-methods", "GET, POST, OPTIONS"),
            ("access-control-allow-headers", accepted),
            ("access-control-max-age", "600"),
        ]
        return response
    }

    private func isListed(_ origin: String) -> Bool { listed.contains("*") || listed.contains(origin) }
}
