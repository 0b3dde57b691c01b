/// Yesterday's names of refusals, as older senders, proxies and stored ledgers still say them, in today's words.
///
/// The ledger keeps one vocabulary: Apple's HTTP/2 reasons and FCM's error codes.
package enum LegacyReason {
    /// Errors of the FCM and GCM HTTP and XMPP protocols that HTTP v1 replaced.
    package static let fcm: [String: String] = [
        "NotRegistered": "UNREGISTERED",
        "Unregistered": "UNREGISTERED",
        "DEVICE_UNREGISTERED": "UNREGISTERED",
        "InvalidRegistration": "INVALID_ARGUMENT",
        "MissingRegistration": "INVALID_ARGUMENT",
        "BAD_REGISTRATION": "INVALID_ARGUMENT",
        "InvalidPackageName": "SENDER_ID_MISMATCH",
        "MismatchSenderId": "SENDER_ID_MISMATCH",
        "SENDER_ID_MISMATCH": "SENDER_ID_MISMATCH",
        "InvalidParameters": "INVALID_ARGUMENT",
        "InvalidDataKey": "INVALID_ARGUMENT",
        "InvalidTtl": "INVALID_ARGUMENT",
        "InvalidJson": "INVALID_ARGUMENT",
        "INVALID_JSON": "INVALID_ARGUMENT",
        "MessageTooBig": "INVALID_ARGUMENT",
        "Unavailable": "UNAVAILABLE",
        "SERVICE_UNAVAILABLE": "UNAVAILABLE",
        "InternalServerError": "INTERNAL",
        "INTERNAL_SERVER_ERROR": "INTERNAL",
        "DeviceMessageRateExceeded": "QUOTA_EXCEEDED",
        "DEVICE_MESSAGE_RATE_EXCEEDED": "QUOTA_EXCEEDED",
        "TopicsMessageRateExceeded": "QUOTA_EXCEEDED",
        "TOPICS_MESSAGE_RATE_EXCEEDED": "QUOTA_EXCEEDED",
        "InvalidApnsCredential": "THIRD_PARTY_AUTH_ERROR",
        "INVALID_APNS_CREDENTIAL": "THIRD_PARTY_AUTH_ERROR",
        "AuthenticationError": "UNAUTHENTICATED",
    ]

    /// Those of them that are `INVALID_ARGUMENT` for what we sent and not for the device's token.
    static let blamesPayload: Set<String> = [
        "InvalidParameters", "InvalidDataKey", "InvalidTtl", "InvalidJson", "INVALID_JSON",
    ]

    /// Status codes of the APNs binary protocol, which ended in March 2021.
    package static let apns: [Int: String] = [
        1: "InternalServerError",
        2: "MissingDeviceToken",
        3: "MissingTopic",
        4: "PayloadEmpty",
        5: "BadDeviceToken",
        6: "BadTopic",
        7: "PayloadTooLarge",
        8: "BadDeviceToken",
        10: "Shutdown",
        255: "InternalServerError",
    ]

    /// Today's word for a reason of FCM's; itself if it is one already or nobody knows it.
    package static func today(fcm reason: String) -> String { fcm[reason] ?? reason }

    /// Today's word for a status code of the binary protocol; nil for 0, which says that nothing was wrong, and for codes
    /// that were never given out.
    package static func today(apnsStatus code: Int) -> String? { apns[code] }
}
