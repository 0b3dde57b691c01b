import GraphQLTransport
import HTTPTypes
import JSON
import NIOCore
import TocsinHTTP

/// One path of the admin listener.
protocol AdminRoute: Sendable {
    var method: HTTPRequest.Method { get }
    var path: String { get }
    var access: AdminAccess { get }
    func answer(_ request: IncomingRequest) async -> OutgoingResponse
}

/// Whom a path of the admin listener answers, the widest circle first.
enum AdminAccess {
    /// Whoever reaches the listener.
    case everybody
    /// Processes of this machine, and whoever shows the token.
    case readers
    /// Whoever may connect to the socket in the file system, and whoever shows the token.
    case operators
}

/// What the admin listener answers: never kept, and JSON but for metrics.
enum AdminAnswer {
    private static let fields: [(name: String, value: String)] = [("cache-control", "no-store")]

    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> OutgoingResponse {
        OutgoingResponse(status: status, contentType: "application/json", fields: fields, body: value.serialized())
    }

    static func error(
        _ status: HTTPResponse.Status,
        _ code: ErrorCode,
        _ message: String,
        _ more: [(name: String, value: String)] = []
    ) -> OutgoingResponse {
        OutgoingResponse(
            status: status,
            contentType: "application/json",
            fields: fields + more,
            body: ErrorBody.plain(message, code: code.rawValue)
        )
    }

    static func health(_ report: HealthReport) -> OutgoingResponse {
        OutgoingResponse(
            status: report.status == .ok ? .ok : .serviceUnavailable,
            contentType: "application/json",
            fields: fields,
            body: report.body
        )
    }
}

extension IncomingRequest {
    /// The members of the JSON object in the body; none for an empty body, nil for another one.
    ///
    /// A member of another name is refused with nil too: an order that is misspelt is not obeyed.
    func adminMembers(_ names: Set<String>) -> JSONObject? {
        guard body.readableBytes > 0 else { return [:] }
        let limits = JSONLimits(maximumBytes: 16 * 1024, maximumDepth: 4, maximumValues: 32)
        let members = (try? JSONParser.parse(Array(body.readableBytesView), limits: limits))?.objectValue
        return members.flatMap { $0.keys.allSatisfy(names.contains) ? $0 : nil }
    }

    /// Whether the query has this name, with any value or none but `0` and `false`.
    func asksFor(_ name: String) -> Bool {
        queryString.split(separator: "&").contains { pair in
            pair == name || pair.hasPrefix(name + "=") && !["=0", "=false"].contains(pair.dropFirst(name.count))
        }
    }
}
