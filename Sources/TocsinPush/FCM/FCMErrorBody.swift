import JSON
package import TocsinCore

/// The parts of an error body (`google.rpc.Status`, or an older one) that decide.
struct FCMErrorBody {
    /// `google.rpc.Code` by name.
    let status: DeliveryReason
    let code: DeliveryReason?
    let violatedFields: [String]
    /// The only sign of a size problem is a sentence.
    let isTooLarge: Bool
    /// Whether a quota of one device is used up, not the project's.
    let isDeviceQuota: Bool
    /// Apple's own reason, where FCM passes on what Apple refused.
    let appleReason: DeliveryReason?

    init?(_ body: JSONValue?) {
        if let name = Self.legacyName(body) {
            self.init(legacy: name)
        } else if let error = body?["error"], error.objectValue != nil {
            self.init(error: error)
        } else {
            return nil
        }
    }

    private init(error: JSONValue) {
        status = DeliveryReason(rawValue: ReasonText.cleaned(error["status"]?.stringValue ?? "UNKNOWN"))
        let details = error["details"]?.arrayValue ?? []
        let typed = { (suffix: String) in
            details.filter { $0["@type"]?.stringValue?.hasSuffix(suffix) ?? false }
        }
        code =
            typed("google.firebase.fcm.v1.FcmError").lazy
            .compactMap { $0["errorCode"]?.stringValue }
            .map { Self.code(named: $0) ?? .unspecifiedError }
            .first
        violatedFields = typed("google.rpc.BadRequest")
            .flatMap { $0["fieldViolations"]?.arrayValue ?? [] }
            .compactMap { $0["field"]?.stringValue }
        isTooLarge = error["message"]?.stringValue?.contains("too big") ?? false
        let quotas = typed("google.rpc.QuotaFailure").flatMap { $0["violations"]?.arrayValue ?? [] }
        isDeviceQuota = !quotas.isEmpty && quotas.allSatisfy(Self.isOfDevice)
        appleReason =
            typed("google.firebase.fcm.v1.ApnsError").lazy
            .compactMap { $0["reason"]?.stringValue }
            .map { DeliveryReason(rawValue: ReasonText.cleaned($0)) }
            .first
    }

    private init(legacy name: String) {
        status = DeliveryReason(rawValue: name)
        code = Self.code(named: name)
        violatedFields = LegacyReason.blamesPayload.contains(name) ? ["message"] : []
        isTooLarge = name == "MessageTooBig"
        isDeviceQuota = code == .quotaExceeded && name.lowercased().hasPrefix("device")
        appleReason = nil
    }

    /// The error code by its present or an earlier name; nil when there is none.
    private static func code(named name: String) -> DeliveryReason? {
        let reason = LegacyReason.today(name)
        return DeliveryReason.fcmCodes.contains(reason) ? reason : nil
    }

    /// `{"error":"…"}` or `{"results":[{"error":"…"}]}`, where it is a name that was once in use.
    private static func legacyName(_ body: JSONValue?) -> String? {
        let name = body?["error"]?.stringValue ?? body?["results"]?.arrayValue?.first?["error"]?.stringValue
        return name.flatMap { LegacyReason.names[$0] == nil ? nil : $0 }
    }

    /// What the quota counts by, as its identifiers name it.
    private static func isOfDevice(_ violation: JSONValue) -> Bool {
        ["subject", "quotaMetric", "quotaId"].contains { name in
            let text = violation[name]?.stringValue?.lowercased() ?? ""
            return text.contains("device") || text.contains("token")
        }
    }
}

/// Yesterday's names of FCM's refusals, as older senders and proxies still
/// say them, in today's words.
///
/// The ledger keeps one vocabulary: FCM's error codes.
package enum LegacyReason {
    /// Errors of the FCM and GCM HTTP and XMPP protocols that HTTP v1 replaced.
    package static let names: [String: DeliveryReason] = [
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

    /// Today's word for a reason; itself if it is one already or nobody knows it.
    package static func today(_ reason: String) -> DeliveryReason {
        names[reason] ?? DeliveryReason(rawValue: reason)
    }
}
