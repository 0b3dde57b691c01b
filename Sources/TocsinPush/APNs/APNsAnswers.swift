import JSON
import TocsinCore

/// Apple's reasons, in Apple's words ("Handling error responses from APNs").
enum APNsReason: String, CaseIterable, Sendable {
    case badDeviceToken = "BadDeviceToken"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case badCollapseID = "BadCollapseId"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case payloadEmpty = "PayloadEmpty"
    case missingTopic = "MissingTopic"
    case topicDisallowed = "TopicDisallowed"
    case idleTimeout = "IdleTimeout"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case expiredProviderToken = "ExpiredProviderToken"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
    /// The same, as it has been seen on the wire.
    case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
    case forbidden = "Forbidden"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case unregistered = "Unregistered"
    case expiredToken = "ExpiredToken"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyRequests = "TooManyRequests"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"
}

/// What each of Apple's answers leads to (Apple: Handling notification responses from APNs).
struct APNsAnswers: Sendable {
    let now: Timestamp

    func verdict(_ answer: PushAnswer) -> AnswerDecision {
        switch answer {
        case .response(let response): verdict(response)
        case .notProcessed, .unknown, .unreachable: TransportTrouble.verdict(answer)
        }
    }

    private func verdict(_ response: PushResponse) -> AnswerDecision {
        if response.status == 200 { return .settled(.accepted(providerID: response.header("apns-id"))) }
        let body = try? JSONParser.parse(response.body)
        guard let text = body?["reason"]?.stringValue else {
            return .settled(.retry(fault(response, "HTTP \(response.status)")))
        }
        let reason = ReasonText.cleaned(text)
        guard let known = APNsReason(rawValue: text) else { return .settled(result(unheard: reason, response)) }
        return verdict(known, reason, response, body)
    }

    private func verdict(_ known: APNsReason, _ reason: String, _ response: PushResponse, _ body: JSONValue?)
        -> AnswerDecision
    {
        switch known {
        case .badDeviceToken, .deviceTokenNotForTopic, .unregistered, .expiredToken:
            .settled(.retire(reason: reason, deadSince: Self.deadSince(body)))
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .badTopic, .duplicateHeaders,
            .invalidPushType, .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed:
            .settled(.refused(reason: reason))
        case .payloadTooLarge:
            .again(.smallerPayload, otherwise: .refused(reason: reason))
        case .missingTopic, .topicDisallowed, .badCertificate, .badCertificateEnvironment, .invalidProviderToken,
            .missingProviderToken, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .forbidden:
            .settled(.pause(reason: reason + skew(response)))
        case .expiredProviderToken:
            .again(.newCredential, otherwise: .pause(reason: reason + skew(response)))
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
        }
    }

    /// A reason no document lists is judged by its status, and in doubt for the device.
    private func result(unheard reason: String, _ response: PushResponse) -> PushResult {
        switch response.status {
        case 403: .pause(reason: reason)
        case 429: .retry(PushRetry(.deviceQuota, reason: reason, afterSeconds: wish(response)))
        case 400..<500: .refused(reason: reason)
        default: .retry(fault(response, reason))
        }
    }

    private func fault(_ response: PushResponse, _ reason: String) -> PushRetry {
        PushRetry(.serverFault, reason: reason, afterSeconds: wish(response))
    }

    private func wish(_ response: PushResponse) -> Double? { RetryAfter.seconds(in: response, now: now) }

    /// Milliseconds; some answers have been seen with seconds.
    private static func deadSince(_ body: JSONValue?) -> Timestamp? {
        guard let number = body?["timestamp"]?.intValue, number > 0 else { return nil }
        return Timestamp(milliseconds: number < 100_000_000_000 ? number * 1000 : number)
    }

    /// Tokens fail when this machine's clock is wrong, so the operator is told.
    private func skew(_ response: PushResponse) -> String {
        ClockSkew.text(date: response.header("date"), now: now, of: "Apple's").map { " (\($0))" } ?? ""
    }
}
