import JSON
import TocsinCore

/// What each of Apple's answers leads to (Apple: Handling notification responses from APNs).
struct APNsAnswers: Sendable {
    let now: Timestamp

    func decision(_ answer: PushAnswer) -> AnswerDecision {
        switch answer {
        case .response(let response): decision(response)
        case .notProcessed, .unknown, .unreachable: TransportTrouble.decision(answer)
        }
    }

    private func decision(_ response: PushResponse) -> AnswerDecision {
        if response.status == 200 { return .settled(.accepted(providerID: response.header("apns-id"))) }
        let body = try? JSONParser.parse(response.body)
        guard let text = body?["reason"]?.stringValue else {
            return .settled(.retry(fault(response, .http(response.status))))
        }
        return decision(DeliveryReason(rawValue: ReasonText.cleaned(text)), response, body)
    }

    private func decision(_ reason: DeliveryReason, _ response: PushResponse, _ body: JSONValue?) -> AnswerDecision {
        switch reason {
        case .badDeviceToken, .deviceTokenNotForTopic, .unregisteredAtApple, .expiredToken:
            .settled(.retire(reason: reason, deadSince: Self.deadSince(body)))
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .badTopic, .duplicateHeaders,
            .invalidPushType, .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed:
            .settled(.refused(reason: reason))
        case .payloadTooLargeForApple:
            .again(.smallerPayload, otherwise: .refused(reason: reason))
        case .missingTopic, .topicDisallowed, .badCertificate, .badCertificateEnvironment, .invalidProviderToken,
            .missingProviderToken, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .forbidden:
            .settled(.pause(reason: skewed(reason, response)))
        case .expiredProviderToken:
            .again(.newCredential, otherwise: .pause(reason: skewed(reason, response)))
        case .unrelatedKeyIDInToken:
            .again(.newConnection, otherwise: .pause(reason: reason))
        case .idleTimeout, .shutdown:
            .again(.newConnection, otherwise: .retry(fault(response, reason)))
        case .tooManyProviderTokenUpdates:
            .again(
                .heldCredential,
                otherwise: .retry(
                    PushRetry(.answer, reason: reason, afterSeconds: max(60, wish(response) ?? 0), countsAttempt: false)
                )
            )
        case .tooManyRequests:
            .settled(.retry(PushRetry(.deviceQuota, reason: reason, afterSeconds: wish(response))))
        case .internalServerError, .serviceUnavailable:
            // One host of many may be in trouble, unless Apple says when to come back.
            wish(response) == nil
                ? .again(.otherConnection, otherwise: .retry(fault(response, reason)))
                : .settled(.retry(fault(response, reason)))
        default: .settled(result(unheard: reason, response))
        }
    }

    /// A reason no document lists is judged by its status, and in doubt for the device.
    private func result(unheard reason: DeliveryReason, _ response: PushResponse) -> PushResult {
        switch response.status {
        case 403: .pause(reason: reason)
        case 429: .retry(PushRetry(.deviceQuota, reason: reason, afterSeconds: wish(response)))
        case 400..<500: .refused(reason: reason)
        default: .retry(fault(response, reason))
        }
    }

    private func fault(_ response: PushResponse, _ reason: DeliveryReason) -> PushRetry {
        PushRetry(.serverFault, reason: reason, afterSeconds: wish(response))
    }

    private func wish(_ response: PushResponse) -> Double? { RetryAfter.seconds(in: response, now: now) }

    /// Milliseconds; some answers have been seen with seconds.
    private static func deadSince(_ body: JSONValue?) -> Timestamp? {
        guard let number = body?["timestamp"]?.intValue, number > 0 else { return nil }
        return Timestamp(milliseconds: number < 100_000_000_000 ? number * 1000 : number)
    }

    /// Tokens fail when this machine's clock is wrong, so the operator is told.
    private func skewed(_ reason: DeliveryReason, _ response: PushResponse) -> DeliveryReason {
        guard let skew = ClockSkew.text(date: response.header("date"), now: now, of: "Apple's") else { return reason }
        return DeliveryReason(rawValue: "\(reason) (\(skew))")
    }
}
