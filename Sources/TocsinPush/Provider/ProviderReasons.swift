import TocsinCore

// What the outbox itself says.
extension DeliveryReason {
    /// The message's row is gone.
    static let messageGone: Self = "MESSAGE_GONE"
    static let messageDeleted: Self = "MESSAGE_DELETED"
    static let topicDeleted: Self = "TOPIC_DELETED"
    /// The message's time was over before the push could leave.
    static let tooLate: Self = "TOO_LATE"
    /// The push is too large even without its texts.
    static let payloadTooLarge: Self = "PAYLOAD_TOO_LARGE"
    /// Not a token of Apple's, whatever it is.
    static let malformedToken: Self = "MALFORMED_TOKEN"
    /// Apple ends an app that is called without ringing.
    static let silentCall: Self = "SILENT_CALL"
    /// The settings no longer allow the browser's push service.
    static let subscriptionNotUsable: Self = "SUBSCRIPTION_NOT_USABLE"
    /// No token fits, so it is hardly the tokens' fault.
    static let suspectConfiguration: Self = "SUSPECT_CONFIGURATION"
    /// The push may have been accepted.
    static let noAnswer: Self = "NO_ANSWER"
    /// The provider did not look at the push.
    static let notProcessed: Self = "NOT_PROCESSED"
    /// No connection could be made.
    static let unreachable: Self = "UNREACHABLE"
    static let unexpectedAnswer: Self = "UNEXPECTED_ANSWER"

    /// An answer that says no more than its status.
    static func http(_ status: Int) -> Self { Self(rawValue: "HTTP \(status)") }
}

// Apple's words (Apple: Handling notification responses from APNs).
extension DeliveryReason {
    static let badDeviceToken: Self = "BadDeviceToken"
    static let deviceTokenNotForTopic: Self = "DeviceTokenNotForTopic"
    static let badCollapseID: Self = "BadCollapseId"
    static let badExpirationDate: Self = "BadExpirationDate"
    static let badMessageID: Self = "BadMessageId"
    static let badPriority: Self = "BadPriority"
    static let badTopic: Self = "BadTopic"
    static let duplicateHeaders: Self = "DuplicateHeaders"
    static let invalidPushType: Self = "InvalidPushType"
    static let missingDeviceToken: Self = "MissingDeviceToken"
    static let payloadEmpty: Self = "PayloadEmpty"
    static let missingTopic: Self = "MissingTopic"
    static let topicDisallowed: Self = "TopicDisallowed"
    static let idleTimeout: Self = "IdleTimeout"
    static let badCertificate: Self = "BadCertificate"
    static let badCertificateEnvironment: Self = "BadCertificateEnvironment"
    static let expiredProviderToken: Self = "ExpiredProviderToken"
    static let invalidProviderToken: Self = "InvalidProviderToken"
    static let missingProviderToken: Self = "MissingProviderToken"
    static let unrelatedKeyIDInToken: Self = "UnrelatedKeyIdInToken"
    static let badEnvironmentKeyIDInToken: Self = "BadEnvironmentKeyIdInToken"
    /// The same, as it has been seen on the wire.
    static let badEnvironmentKeyInToken: Self = "BadEnvironmentKeyInToken"
    static let forbidden: Self = "Forbidden"
    static let badPath: Self = "BadPath"
    static let methodNotAllowed: Self = "MethodNotAllowed"
    /// Apple's `UNREGISTERED`.
    static let unregisteredAtApple: Self = "Unregistered"
    static let expiredToken: Self = "ExpiredToken"
    /// Apple's `PAYLOAD_TOO_LARGE`.
    static let payloadTooLargeForApple: Self = "PayloadTooLarge"
    static let tooManyRequests: Self = "TooManyRequests"
    static let tooManyProviderTokenUpdates: Self = "TooManyProviderTokenUpdates"
    static let internalServerError: Self = "InternalServerError"
    static let serviceUnavailable: Self = "ServiceUnavailable"
    static let shutdown: Self = "Shutdown"
}

// Google's error codes (`google.firebase.fcm.v1.FcmError`). Its `UNREGISTERED` is our own word too.
extension DeliveryReason {
    static let unspecifiedError: Self = "UNSPECIFIED_ERROR"
    static let invalidArgument: Self = "INVALID_ARGUMENT"
    static let senderIDMismatch: Self = "SENDER_ID_MISMATCH"
    static let quotaExceeded: Self = "QUOTA_EXCEEDED"
    static let unavailable: Self = "UNAVAILABLE"
    static let internalError: Self = "INTERNAL"
    static let thirdPartyAuthError: Self = "THIRD_PARTY_AUTH_ERROR"

    /// All codes that FCM is known to answer with.
    static let fcmCodes: Set<Self> = [
        unspecifiedError, invalidArgument, unregistered, senderIDMismatch, quotaExceeded, unavailable, internalError,
        thirdPartyAuthError,
    ]
}

extension DeliveryReason {
    /// Whether the credentials are refused that FCM has towards Apple or a browser's push service.
    var isThirdPartyTrouble: Bool { rawValue.hasPrefix(Self.thirdPartyAuthError.rawValue) }

    /// The token is of another app, side or project.
    ///
    /// Said of all devices, it speaks against the configuration and not against them.
    static let wrongTokens: Set<Self> = [badDeviceToken, deviceTokenNotForTopic, senderIDMismatch]
    /// The key is for one of Apple's sides, and the push went to the other.
    static let oneSidedKeys: Set<Self> = [badEnvironmentKeyIDInToken, badEnvironmentKeyInToken]
}
