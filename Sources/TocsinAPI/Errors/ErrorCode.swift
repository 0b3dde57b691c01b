/// The closed list of `extensions.code` (schema/errors.md), each with the error type AppSync's clients know.
package enum ErrorCode: String, Sendable, CaseIterable {
    case badUserInput = "BAD_USER_INPUT"
    case badRequest = "BAD_REQUEST"
    case unauthenticated = "UNAUTHENTICATED"
    case unauthorized = "UNAUTHORIZED"
    case conflict = "CONFLICT"
    case conditionFailed = "CONDITION_FAILED"
    case versionConflict = "VERSION_CONFLICT"
    case badCursor = "BAD_CURSOR"
    case cursorExpired = "CURSOR_EXPIRED"
    case limit = "LIMIT"
    case unavailable = "UNAVAILABLE"
    case timeout = "TIMEOUT"
    case parseFailed = "GRAPHQL_PARSE_FAILED"
    case validationFailed = "GRAPHQL_VALIDATION_FAILED"
    case operationFailed = "OPERATION_RESOLUTION_FAILURE"
    case persistedQueryNotFound = "PERSISTED_QUERY_NOT_FOUND"
    case persistedQueryNotSupported = "PERSISTED_QUERY_NOT_SUPPORTED"
    case documentNotTrusted = "DOCUMENT_NOT_TRUSTED"
    case `internal` = "INTERNAL"

    /// AppSync's `errorType`.
    var errorType: String {
        switch self {
        case .badUserInput, .badRequest, .badCursor, .cursorExpired: "BadRequestException"
        case .unauthenticated: "UnauthorizedException"
        case .unauthorized: "Unauthorized"
        case .conflict, .conditionFailed: "ConditionalCheckFailedException"
        case .versionConflict: "ConflictUnhandled"
        case .limit: "LimitExceededError"
        case .unavailable, .timeout, .internal: "InternalFailure"
        case .parseFailed, .operationFailed, .persistedQueryNotFound, .persistedQueryNotSupported:
            "MalformedHttpRequestException"
        case .documentNotTrusted: "Unauthorized"
        case .validationFailed: "ValidationError"
        }
    }
}
