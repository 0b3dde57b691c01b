import JSON
import TocsinCore

/// What each of FCM's answers leads to (Firebase: FCM error codes).
struct FCMAnswers: Sendable {
    let now: Timestamp
    private static let quotaSeconds = 60.0
    /// Fields that hold what names the device.
    private static let targets: Set<String> = ["message.token", "message.fid", "token", "fid"]

    func decision(_ answer: PushAnswer) -> AnswerDecision {
        switch answer {
        case .response(let response): decision(response)
        case .notProcessed, .unknown, .unreachable: TransportTrouble.decision(answer)
        }
    }

    private func decision(_ response: PushResponse) -> AnswerDecision {
        let body = try? JSONParser.parse(response.body)
        let error = FCMErrorBody(body)
        // Older services say what failed in an answer of success.
        if response.status == 200, error?.code == nil {
            return .settled(.accepted(providerID: body?["name"]?.stringValue))
        }
        guard let error else {
            if response.status == 413 { return tooLarge(.http(413)) }
            return .settled(.retry(fault(response, .http(response.status))))
        }
        guard let code = error.code else { return decision(uncoded: error, response) }
        return decision(code, error, response)
    }

    private func decision(_ code: DeliveryReason, _ error: FCMErrorBody, _ response: PushResponse) -> AnswerDecision {
        switch code {
        case .invalidArgument:
            invalidArgument(error)
        case .unregistered, .senderIDMismatch:
            .settled(.retire(reason: code, deadSince: nil))
        case .quotaExceeded:
            quota(error, code, response)
        case .thirdPartyAuthError:
            .settled(
                .retry(PushRetry(.answer, reason: error.appleReason.map { code.with(detail: $0.rawValue) } ?? code))
            )
        default:
            .settled(.retry(fault(response, code)))
        }
    }

    /// The violated field tells whose fault it is; without one it is the token's,
    /// unless the size is to blame.
    private func invalidArgument(_ error: FCMErrorBody) -> AnswerDecision {
        let code = DeliveryReason.invalidArgument
        if let reason = error.appleReason { return refusedByApple(reason) }
        if error.isTooLarge { return tooLarge(code) }
        let other = error.violatedFields.first { !Self.targets.contains($0) }
        if let other { return .settled(.refused(reason: code.with(detail: ReasonText.cleaned(other)))) }
        return .settled(.retire(reason: code, deadSince: nil))
    }

    /// What Apple said of a push to an iPhone, in FCM's answer: the reason is Apple's own, so that
    /// the ledger has one word for it on both ways.
    private func refusedByApple(_ reason: DeliveryReason) -> AnswerDecision {
        switch reason {
        case .badDeviceToken, .deviceTokenNotForTopic, .unregisteredAtApple, .expiredToken:
            .settled(.retire(reason: reason, deadSince: nil))
        case .payloadTooLargeForApple:
            tooLarge(reason)
        // Apple's key and app are settings of the Firebase project; other apps of it may be well.
        case .invalidProviderToken, .expiredProviderToken, .missingProviderToken, .topicDisallowed, .missingTopic,
            .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .badCertificate, .badCertificateEnvironment,
            .unrelatedKeyIDInToken, .forbidden:
            .settled(
                .retry(PushRetry(.answer, reason: DeliveryReason.thirdPartyAuthError.with(detail: reason.rawValue)))
            )
        default:
            .settled(.refused(reason: DeliveryReason.invalidArgument.with(detail: reason.rawValue)))
        }
    }

    /// Answers of Google's front, without an FCM code.
    private func decision(uncoded error: FCMErrorBody, _ response: PushResponse) -> AnswerDecision {
        switch response.status {
        case 400:
            if error.isTooLarge { return tooLarge(error.status) }
            let field = error.violatedFields.first.map(ReasonText.cleaned)
            return .settled(.refused(reason: field.map(error.status.with(detail:)) ?? error.status))
        case 401: return .again(.newCredential, otherwise: .pause(reason: error.status))
        case 403:
            let detail = "the FCM API is off, or the account lacks its role"
            return .settled(.pause(reason: error.status.with(detail: detail)))
        case 404: return .settled(.pause(reason: error.status.with(detail: "no such Firebase project")))
        case 413: return tooLarge(error.status)
        case 429:
            return quota(error, error.status, response)
        default: return .settled(.retry(fault(response, error.status)))
        }
    }

    /// The project's unless it says that the device gets too many.
    private func quota(_ error: FCMErrorBody, _ reason: DeliveryReason, _ response: PushResponse) -> AnswerDecision {
        let cause: PushRetry.Cause = error.isDeviceQuota ? .deviceQuota : .quota
        return .settled(.retry(PushRetry(cause, reason: reason, afterSeconds: wish(response) ?? Self.quotaSeconds)))
    }

    private func tooLarge(_ reason: DeliveryReason) -> AnswerDecision {
        .again(.smallerPayload, otherwise: .refused(reason: reason.with(detail: "too large")))
    }

    private func fault(_ response: PushResponse, _ reason: DeliveryReason) -> PushRetry {
        PushRetry(.serverFault, reason: reason, afterSeconds: wish(response))
    }

    private func wish(_ response: PushResponse) -> Double? { RetryAfter.seconds(in: response, now: now) }
}
