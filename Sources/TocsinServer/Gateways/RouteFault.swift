import GraphQLTransport
import HTTPTypes
package import JSON
import TocsinHTTP

/// Why a route answers with an error: the status and what stands in the body.
package struct RouteFault: Error {
    private(set) var status: HTTPResponse.Status
    /// One of the codes of `schema/errors.md`, or `NOT_FOUND`.
    package let code: String
    /// What was wrong and what to do.
    package let message: String
    var fields: [(name: String, value: String)] = []

    static func badInput(_ message: String) -> RouteFault {
        RouteFault(status: .badRequest, code: ErrorCode.badUserInput.rawValue, message: message)
    }

    static func badRequest(_ status: HTTPResponse.Status, _ message: String) -> RouteFault {
        RouteFault(status: status, code: ErrorCode.badRequest.rawValue, message: message)
    }

    /// The document ran and found nothing.
    static let notFound = RouteFault(status: .notFound, code: "NOT_FOUND", message: "There is nothing of that name.")

    static func unauthenticated(_ message: String) -> RouteFault {
        RouteFault(
            status: .unauthorized,
            code: ErrorCode.unauthenticated.rawValue,
            message: message,
            fields: [("www-authenticate", "Bearer")]
        )
    }

    static func unavailable(_ message: String) -> RouteFault {
        RouteFault(
            status: .serviceUnavailable,
            code: ErrorCode.unavailable.rawValue,
            message: message,
            fields: [("retry-after", "1")]
        )
    }

    /// The caller asks more often than the rate allows.
    static func tooMany(_ error: JSONValue, retryAfterSeconds: Int) -> RouteFault {
        var fault = RouteFault(error)
        fault.status = .tooManyRequests
        fault.fields = [("retry-after", "\(retryAfterSeconds)")]
        return fault
    }

    /// The first error of a GraphQL response.
    package init(_ error: JSONValue) {
        let message = error["message"]?.stringValue ?? "The request could not be served."
        let code = error["extensions"]?["code"]?.stringValue.flatMap { ErrorCode(rawValue: $0) } ?? .internal
        self.init(status: Self.status(of: code), code: code.rawValue, message: message)
        if status == .serviceUnavailable { fields = [("retry-after", "1")] }
        if status == .unauthorized { fields = [("www-authenticate", "Bearer")] }
    }

    private init(
        status: HTTPResponse.Status,
        code: String,
        message: String,
        fields: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.fields = fields
    }

    private static func status(of code: ErrorCode) -> HTTPResponse.Status {
        switch code {
        case .badUserInput, .badRequest, .badCursor, .cursorExpired: .badRequest
        case .unauthenticated, .reauthenticate: .unauthorized
        case .unauthorized, .documentNotTrusted, .proofRefused: .forbidden
        case .conflict, .conditionFailed, .versionConflict, .limit: .conflict
        case .unavailable, .timeout: .serviceUnavailable
        // Documents are checked at start: what is wrong with one now is ours.
        case .parseFailed, .validationFailed, .operationFailed, .persistedQueryNotFound, .persistedQueryNotSupported,
            .internal:
            .internalServerError
        }
    }

    /// `{"error": {"code", "message"}}`.
    var response: OutgoingResponse {
        OutgoingResponse(
            status: status,
            contentType: "application/json",
            fields: [("cache-control", "no-store")] + fields,
            body: ErrorBody.plain(message, code: code)
        )
    }
}
