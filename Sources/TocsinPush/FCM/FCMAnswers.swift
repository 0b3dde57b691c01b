import JSON
import TocsinCore

/// FCM's error codes, in Google's words (`google.firebase.fcm.v1.FcmError`).
enum FCMErrorCode: String, CaseIterable, Sendable {
    case unspecifiedError = "UNSPECIFIED_ERROR"
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case `internal` = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
}

/// What each of FCM's answers leads to (push-providers section 5, ops-promises section 3).
struct FCMAnswers: Sendable {
    let now: Timestamp
    private static let quotaSeconds = 60.0

    func verdict(_ answer: PushAnswer) -> Verdict {
        switch answer {
        case .response(let response): verdict(response)
        case .notProcessed, .unknown, .unreachable: TransportTrouble.verdict(answer)
        }
    }

    private func verdict(_ response: PushResponse) -> Verdict {
        let body = try? JSONParser.parse(response.body)
        if response.status == 200 { return .settled(.accepted(providerID: body?["name"]?.stringValue)) }
        guard let error = FCMErrorBody(body) else {
            if response.status == 413 { return tooLarge("HTTP 413") }
            return .settled(.retry(fault(response, "HTTP \(response.status)")))
        }
        guard let code = error.code else { return verdict(uncoded: error, response) }
        return verdict(code, error, response)
    }

    private func verdict(_ code: FCMErrorCode, _ error: FCMErrorBody, _ response: PushResponse) -> Verdict {
        switch code {
        case .invalidArgument:
            invalidArgument(error)
        case .unregistered, .senderIDMismatch:
            .settled(.retire(reason: code.rawValue, deadSince: nil))
        case .quotaExceeded:
            .settled(
                .retry(PushRetry(.answer, reason: code.rawValue, afterSeconds: wish(response) ?? Self.quotaSeconds))
            )
        case .thirdPartyAuthError:
            .settled(.retry(PushRetry(.answer, reason: code.rawValue)))
        case .unavailable, .internal, .unspecifiedError:
            .settled(.retry(fault(response, code.rawValue)))
        }
    }

    /// The violated field tells whose fault it is; without one it is the token's, unless the size is to blame.
    private func invalidArgument(_ error: FCMErrorBody) -> Verdict {
        let code = FCMErrorCode.invalidArgument.rawValue
        if error.isTooLarge { return tooLarge(code) }
        let other = error.violatedFields.first { !$0.hasSuffix("token") }
        if let other { return .settled(.refused(reason: "\(code): " + ReasonText.cleaned(other))) }
        return .settled(.retire(reason: code, deadSince: nil))
    }

    /// Answers of Google's front, without an FCM code.
    private func verdict(uncoded error: FCMErrorBody, _ response: PushResponse) -> Verdict {
        switch response.status {
        case 400:
            if error.isTooLarge { return tooLarge(error.status) }
            let field = error.violatedFields.first.map { ": " + ReasonText.cleaned($0) } ?? ""
            return .settled(.refused(reason: error.status + field))
        case 401: return .again(.newCredential, otherwise: .pause(reason: error.status))
        case 403: return .settled(.pause(reason: "\(error.status): the FCM API is off, or the account lacks its role"))
        case 404: return .settled(.pause(reason: "\(error.status): no such Firebase project"))
        case 413: return tooLarge(error.status)
        case 429:
            let seconds = wish(response) ?? Self.quotaSeconds
            return .settled(.retry(PushRetry(.answer, reason: error.status, afterSeconds: seconds)))
        default: return .settled(.retry(fault(response, error.status)))
        }
    }

    private func tooLarge(_ reason: String) -> Verdict {
        .again(.smallerPayload, otherwise: .refused(reason: "\(reason): too large"))
    }

    private func fault(_ response: PushResponse, _ reason: String) -> PushRetry {
        PushRetry(.serverFault, reason: reason, afterSeconds: wish(response))
    }

    private func wish(_ response: PushResponse) -> Double? { RetryAfter.seconds(in: response, now: now) }
}

/// The parts of an error body (`google.rpc.Status`) that decide.
struct FCMErrorBody {
    /// `google.rpc.Code` by name.
    let status: String
    let code: FCMErrorCode?
    let violatedFields: [String]
    /// The only sign of a size problem is a sentence.
    let isTooLarge: Bool

    init?(_ body: JSONValue?) {
        guard let error = body?["error"], error.objectValue != nil else { return nil }
        status = ReasonText.cleaned(error["status"]?.stringValue ?? "UNKNOWN")
        let details = error["details"]?.arrayValue ?? []
        let typed = { (suffix: String) in
            details.filter { $0["@type"]?.stringValue?.hasSuffix(suffix) ?? false }
        }
        code =
            typed("google.firebase.fcm.v1.FcmError").lazy
            .compactMap { $0["errorCode"]?.stringValue }
            .map { FCMErrorCode(rawValue: $0) ?? .unspecifiedError }
            .first
        violatedFields = typed("google.rpc.BadRequest")
            .flatMap { $0["fieldViolations"]?.arrayValue ?? [] }
            .compactMap { $0["field"]?.stringValue }
        isTooLarge = error["message"]?.stringValue?.contains("too big") ?? false
    }
}
