package import TocsinCore

/// Yesterday's names of refusals, as older senders, proxies and stored ledgers still say them, in today's words.
///
/// The ledger keeps one vocabulary: Apple's HTTP/2 reasons and FCM's error codes.
package enum LegacyReason {
    /// Errors of the FCM and GCM HTTP and XMPP protocols that HTTP v1 replaced.
    package static let fcm: [String: DeliveryReason] = [
        "NotRegistered": .unregistered,
        "Unregistered": .unregistered,
        "DEVICE_UNREGISTERED": .unregistered,
        "InvalidRegistration": .invalidArgument,
        "MissingRegistration": .invalidArgument,
        "BAD_REGISTRATION": .invalidArgument,
        "InvalidPackageName": .senderIDMismatch,
        "MismatchSenderId": .senderIDMismatch,
        "SENDER_ID_MISMATCH": .senderIDMismatch,
        "InvalidParameters": .invalidArgument,
        "InvalidDataKey": .invalidArgument,
        "InvalidTtl": .invalidArgument,
        "InvalidJson": .invalidArgument,
        "INVALID_JSON": .invalidArgument,
        "MessageTooBig": .invalidArgument,
        "Unavailable": .unavailable,
        "SERVICE_UNAVAILABLE": .unavailable,
        "InternalServerError": .internalError,
        "INTERNAL_SERVER_ERROR": .internalError,
        "DeviceMessageRateExceeded": .quotaExceeded,
        "DEVICE_MESSAGE_RATE_EXCEEDED": .quotaExceeded,
        "TopicsMessageRateExceeded": .quotaExceeded,
        "TOPICS_MESSAGE_RATE_EXCEEDED": .quotaExceeded,
        "InvalidApnsCredential": .thirdPartyAuthError,
        "INVALID_APNS_CREDENTIAL": .thirdPartyAuthError,
        "AuthenticationError": "UNAUTHENTICATED",
    ]

    /// Those of them that are `INVALID_ARGUMENT` for what we sent and not for the device's token.
    static let blamesPayload: Set<String> = [
        "InvalidParameters", "InvalidDataKey", "InvalidTtl", "InvalidJson", "INVALID_JSON",
    ]

    /// Status codes of the APNs binary protocol, which ended in March 2021.
    package static let apns: [Int: DeliveryReason] = [
        1: .internalServerError,
        2: .missingDeviceToken,
        3: .missingTopic,
        4: .payloadEmpty,
        5: .badDeviceToken,
        6: .badTopic,
        7: .payloadTooLargeForApple,
        8: .badDeviceToken,
        10: .shutdown,
        255: .internalServerError,
    ]

    /// Today's word for a reason of FCM's; itself if it is one already or nobody knows it.
    package static func today(fcm reason: String) -> DeliveryReason {
        fcm[reason] ?? DeliveryReason(rawValue: reason)
    }

    /// Today's word for a status code of the binary protocol; nil for 0, which says that nothing was wrong, and for codes
    /// that were never given out.
    package static func today(apnsStatus code: Int) -> DeliveryReason? { apns[code] }
}
