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

/// What each of FCM's answers leads to (Firebase: FCM error codes).
struct FCMAnswers: Sendable {
    let now: Timestamp
    private static let quotaSeconds = 60.0
    /// Fields that hold what names the device.
    private static let targets: Set<String> = ["message.token", "message.fid", "token", "fid"]

    func verdict(_ answer: PushAnswer) -> AnswerDecision {
        switch answer {
        case .response(let response): verdict(response)
        case .notProcessed, .unknown, .unreachable: TransportTrouble.verdict(answer)
        }
    }

    private func verdict(_ response: PushResponse) -> AnswerDecision {
        let body = try? JSONParser.parse(response.body)
        let error = FCMErrorBody(body)
        // Older services say what failed in an answer of success.
        if response.status == 200, error?.code == nil {
            return .settled(.accepted(providerID: body?["name"]?.stringValue))
        }
        guard let error else {
            if response.status == 413 { return tooLarge("HTTP 413") }
            return .settled(.retry(fault(response, "HTTP \(response.status)")))
        }
        guard let code = error.code else { return verdict(uncoded: error, response) }
        return verdict(code, error, response)
    }

    private func verdict(_ code: FCMErrorCode, _ error: FCMErrorBody, _ response: PushResponse) -> AnswerDecision {
        switch code {
        case .invalidArgument:
            invalidArgument(error)
        case .unregistered, .senderIDMismatch:
            .settled(.retire(reason: code.rawValue, deadSince: nil))
        case .quotaExceeded:
            quota(error, code.rawValue, response)
        case .thirdPartyAuthError:
            .settled(.retry(PushRetry(.answer, reason: code.rawValue)))
        case .unavailable, .internal, .unspecifiedError:
            .settled(.retry(fault(response, code.rawValue)))
        }
    }

    /// The violated field tells whose fault it is; without one it is the token's, unless the size is to blame.
    private func invalidArgument(_ error: FCMErrorBody) -> AnswerDecision {
        let code = FCMErrorCode.invalidArgument.rawValue
        if error.isTooLarge { return tooLarge(code) }
        let other = error.violatedFields.first { !Self.targets.contains($0) }
        if let other { return .settled(.refused(reason: "\(code): " + ReasonText.cleaned(other))) }
        return .settled(.retire(reason: code, deadSince: nil))
    }

    /// Answers of Google's front, without an FCM code.
    private func verdict(uncoded error: FCMErrorBody, _ response: PushResponse) -> AnswerDecision {
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
            return quota(error, error.status, response)
        default: return .settled(.retry(fault(response, error.status)))
        }
    }

    /// The project's unless it says that the device gets too many.
    private func quota(_ error: FCMErrorBody, _ reason: String, _ response: PushResponse) -> AnswerDecision {
        let cause: PushRetry.Cause = error.isDeviceQuota ? .deviceQuota : .quota
        return .settled(.retry(PushRetry(cause, reason: reason, afterSeconds: wish(response) ?? Self.quotaSeconds)))
    }

    private func tooLarge(_ reason: String) -> AnswerDecision {
        .again(.smallerPayload, otherwise: .refused(reason: "\(reason): too large"))
    }

    private func fault(_ response: PushResponse, _ reason: String) -> PushRetry {
        PushRetry(.serverFault, reason: reason, afterSeconds: wish(response))
    }

    private func wish(_ response: PushResponse) -> Double? { RetryAfter.seconds(in: response, now: now) }
}
