import Encodings
import JSON

/// The errors of FCM HTTP v1, in the exact shapes of their bodies.
enum FCMFailure: Error, Sendable {
    enum RetryAfter: Sendable {
        case none
        case seconds(Int)
        /// One second from now, as an HTTP date.
        case date
    }

    /// Whose quota was used up.
    enum Quota: Sendable {
        case device, project
    }

    case invalidToken
    /// A field the send service refuses: field path and why.
    case invalidField(String, String)
    /// A field the JSON reader in front of the service refuses: no FCM code.
    case unreadableField(String, String)
    case tooBig(Int)
    case unauthenticated(String)
    case thirdPartyAuthError
    /// What Apple refused of a push to an iPhone, passed on in an `ApnsError` detail.
    case apple(APNsReason)
    case permissionDenied
    case senderIDMismatch
    case unregistered
    case projectNotFound
    case quotaExceeded(Quota, RetryAfter)
    case internalError
    case unspecified
    /// A code no document lists.
    case unheardCode
    case unavailable(RetryAfter)

    /// HTTP status, `google.rpc.Code` name, FCM error code, message.
    var parts: (http: Int, status: String, errorCode: String?, message: String) {
        switch self {
        case .invalidToken:
            (
                400, "INVALID_ARGUMENT", "INVALID_ARGUMENT",
                "The registration token is not a valid FCM registration token"
            )
        case .invalidField(let field, let why):
            (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Invalid value at '\(field)': \(why)")
        case .unreadableField(let field, let why):
            (400, "INVALID_ARGUMENT", nil, "Invalid JSON payload received at '\(field)': \(why)")
        case .tooBig(let bytes):
            (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Android message is too big: \(bytes) bytes of 4096")
        case .unauthenticated:
            (401, "UNAUTHENTICATED", nil, "Request had invalid authentication credentials.")
        case .thirdPartyAuthError:
            (401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", "Auth error from APNS or Web Push Service")
        case .apple(let reason):
            switch reason.status {
            case 403: Self.thirdPartyAuthError.parts
            case 410: Self.unregistered.parts
            default: (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Request contains an invalid argument.")
            }
        case .permissionDenied:
            (403, "PERMISSION_DENIED", nil, "Permission 'cloudmessaging.messages.create' denied on resource")
        case .senderIDMismatch:
            (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", "SenderId mismatch")
        case .unregistered:
            (404, "NOT_FOUND", "UNREGISTERED", "Requested entity was not found.")
        case .projectNotFound:
            (404, "NOT_FOUND", nil, "Requested entity was not found.")
        case .quotaExceeded:
            (429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", "Sending limit exceeded for the message target.")
        case .internalError:
            (500, "INTERNAL", "INTERNAL", "Internal error encountered.")
        case .unspecified:
            (500, "INTERNAL", "UNSPECIFIED_ERROR", "An unknown error occurred.")
        case .unheardCode:
            (500, "INTERNAL", "MOON_IS_WRONG", "Scripted.")
        case .unavailable:
            (503, "UNAVAILABLE", "UNAVAILABLE", "The service is currently unavailable.")
        }
    }

    /// The name counted in statistics: the FCM code, else the status.
    var name: String {
        switch self {
        case .invalidToken: "INVALID_ARGUMENT token"
        case .projectNotFound: "NOT_FOUND"
        default: parts.errorCode ?? parts.status
        }
    }

    /// What a developer needs to mend it, where the message does not say so.
    var detail: String {
        if case .unauthenticated(let why) = self { why } else { parts.message }
    }

    func answer(nowMilliseconds: Int64, projectID: String) -> WireAnswer {
        let parts = parts
        var error: JSONObject = [
            "code": .int(Int64(parts.http)), "message": .string(parts.message), "status": .string(parts.status),
        ]
        let details = details(projectID)
        if !details.isEmpty { error["details"] = .array(details) }
        let body: JSONValue = ["error": .object(error)]
        var answer = WireAnswer(
            status: parts.http,
            headers: [("content-type", "application/json; charset=UTF-8")],
            body: body.serialized()
        )
        switch retryAfter {
        case .none: break
        case .seconds(let seconds): answer.headers.append(("retry-after", String(seconds)))
        case .date: answer.headers.append(("retry-after", HTTPDate.text(secondsSince1970: nowMilliseconds / 1000 + 1)))
        }
        return answer
    }

    private var retryAfter: RetryAfter {
        switch self {
        case .quotaExceeded(_, let retryAfter), .unavailable(let retryAfter): retryAfter
        default: .none
        }
    }

    private func details(_ projectID: String) -> [JSONValue] {
        var details: [JSONValue] = []
        if let errorCode = parts.errorCode {
            details.append([
                "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(errorCode),
            ])
        }
        switch self {
        case .apple(let reason):
            details.append([
                "@type": "type.googleapis.com/google.firebase.fcm.v1.ApnsError",
                "statusCode": .int(Int64(reason.status)), "reason": .string(reason.rawValue),
            ])
        case .invalidToken:
            details.append(Self.badRequest(field: "message.token", "Invalid registration token"))
        case .invalidField(let field, let why), .unreadableField(let field, let why):
            details.append(Self.badRequest(field: field, why))
        case .quotaExceeded(let quota, _):
            details.append([
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [Self.violation(quota, projectID)],
            ])
        case .unauthenticated:
            details.append(Self.errorInfo("ACCESS_TOKEN_EXPIRED"))
        case .permissionDenied:
            details.append(Self.errorInfo("IAM_PERMISSION_DENIED"))
        default:
            break
        }
        return details
    }

    private static func violation(_ quota: Quota, _ projectID: String) -> JSONValue {
        switch quota {
        case .device: ["subject": "device", "description": "Device message rate exceeded"]
        case .project: ["subject": .string("project:\(projectID)"), "description": "Project message rate exceeded"]
        }
    }

    private static func badRequest(field: String, _ description: String) -> JSONValue {
        [
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [["field": .string(field), "description": .string(description)]],
        ]
    }

    private static func errorInfo(_ reason: String) -> JSONValue {
        [
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(reason),
            "domain": "googleapis.com", "metadata": ["service": "fcm.googleapis.com"],
        ]
    }
}
