/// The closed list of `extensions.code` (schema/errors.md), each with the error
/// types AppSync's clients know.
public enum ErrorCode: String, Sendable, Hashable, CaseIterable {
    /// An argument or a variable has a value that makes no sense.
    case badUserInput = "BAD_USER_INPUT"
    /// The request is wrong.
    case badRequest = "BAD_REQUEST"
    /// There are no valid credentials.
    case unauthenticated = "UNAUTHENTICATED"
    /// A session's person must prove again who they are.
    case reauthenticate = "REAUTHENTICATE"
    /// The caller may not do this, or not from where it is.
    case unauthorized = "UNAUTHORIZED"
    /// What is stored already stands against it.
    case conflict = "CONFLICT"
    /// The condition of a write does not hold.
    case conditionFailed = "CONDITION_FAILED"
    /// The row was changed by somebody else.
    case versionConflict = "VERSION_CONFLICT"
    /// A cursor was changed or belongs elsewhere.
    case badCursor = "BAD_CURSOR"
    /// What a cursor points to is kept no longer.
    case cursorExpired = "CURSOR_EXPIRED"
    /// Something allowed a certain number of times was asked for once more.
    case limit = "LIMIT"
    /// A registration's proof is missing or does not hold.
    case proofRefused = "PROOF_REFUSED"
    /// It cannot be served now.
    case unavailable = "UNAVAILABLE"
    /// It took longer than allowed.
    case timeout = "TIMEOUT"
    /// The document is not GraphQL.
    case parseFailed = "GRAPHQL_PARSE_FAILED"
    /// The document does not fit the schema or the limits.
    case validationFailed = "GRAPHQL_VALIDATION_FAILED"
    /// The document has no such operation, or several without a name to choose by.
    case operationFailed = "OPERATION_RESOLUTION_FAILURE"
    /// A hash or an id stands for no document that is known here.
    case persistedQueryNotFound = "PERSISTED_QUERY_NOT_FOUND"
    /// Documents are not kept, or not as the client wants it.
    case persistedQueryNotSupported = "PERSISTED_QUERY_NOT_SUPPORTED"
    /// Only known documents run here, and this is none.
    case documentNotTrusted = "DOCUMENT_NOT_TRUSTED"
    /// Something of ours failed.
    case `internal` = "INTERNAL"

    /// AppSync's `errorType` of a field's or a request's error.
    public var errorType: String {
        switch self {
        case .badUserInput, .badRequest, .badCursor, .cursorExpired, .proofRefused: "BadRequestException"
        case .unauthenticated, .reauthenticate: "UnauthorizedException"
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

    /// AppSync's `errorType` of an HTTP request that never reached GraphQL.
    public var httpErrorType: String { self == .badRequest ? "MalformedHttpRequestException" : errorType }

    /// AppSync's `errorType` in real-time messages, where every fault of a
    /// document is a bad request.
    public var realtimeErrorType: String {
        switch self {
        case .parseFailed, .operationFailed, .validationFailed, .persistedQueryNotFound,
            .persistedQueryNotSupported:
            "BadRequestException"
        default: errorType
        }
    }
}
