/// The faults by the names that scripts, rates and the control address use.
package enum FaultNames {
    /// What a fault may be told beside its name.
    struct Options: Sendable {
        var retryAfter: FCMFailure.RetryAfter?
        var agoSeconds: Int64 = 0
        var lateSeconds: Double?
        var lastStream: Int32?
        var reason: String?
    }

    /// A reason of APNs that no document lists.
    static let unheard = "TheMoonIsWrong"

    /// The names a provider knows, for `--help` and error messages.
    package static func all(of provider: SimulatedProvider) -> [String] {
        switch provider {
        case .apns: APNsReason.allCases.map(\.rawValue) + [unheard] + wire.map(\.name)
        case .fcm: google.map(\.name) + wire.map(\.name)
        case .token: []
        case .webpush: WebPushRefusal.scripted.map(\.refusal.reason) + wire.map(\.name)
        }
    }

    /// What the stream faults do, for people.
    package static var wireFaults: [(name: String, summary: String)] { wire.map { ($0.name, $0.summary) } }

    static func effect(_ name: String, of provider: SimulatedProvider, _ options: Options) -> ScriptEffect? {
        if let fault = wire.first(where: { $0.name == name }) { return .wire(fault.make(options)) }
        guard let effect = refusal(name, of: provider, options) else { return nil }
        return options.lateSeconds.map { .late(effect, seconds: $0) } ?? effect
    }

    private static func refusal(_ name: String, of provider: SimulatedProvider, _ options: Options) -> ScriptEffect? {
        switch provider {
        case .apns:
            switch APNsReason(rawValue: name) {
            case .unregistered: return .unregistered(agoSeconds: options.agoSeconds)
            case .shutdown: return .shutdown
            case .some(let reason): return .apns(reason)
            case .none: return name == unheard ? .unheardReason : nil
            }
        case .fcm:
            return google.first { $0.name == name }.map { .fcm($0.make(options.retryAfter ?? .none)) }
        case .token:
            return nil
        case .webpush:
            return WebPushRefusal.scripted.first { $0.refusal.reason == name }.map { .webPush($0.refusal) }
        }
    }

    private static let wire: [(name: String, summary: String, make: @Sendable (Options) -> WireFault)] = [
        ("slow", "200, but late", { .slow(seconds: $0.lateSeconds) }),
        ("silence", "no answer", { _ in .silence }),
        ("headers-only", "response HEADERS, then nothing", { _ in .headersOnly }),
        ("reset", "RST_STREAM INTERNAL_ERROR", { _ in .reset(errorCode: 2) }),
        ("refused-stream", "RST_STREAM REFUSED_STREAM: not processed", { _ in .reset(errorCode: 7) }),
        ("lost-answer", "accepted, but RST_STREAM instead of the answer", { _ in .acceptedThenReset }),
        ("goaway", "200, then GOAWAY", { .goAway(goAway($0, isAnswered: true)) }),
        ("goaway-refused", "GOAWAY below this stream: not processed", { .goAway(goAway($0, isAnswered: false)) }),
        ("close", "the connection closes without an answer", { _ in .hangUp }),
        ("close-after-accept", "accepted, but the connection closes first", { _ in .acceptedThenHangUp }),
        ("bad-gateway", "502 with a page of HTML", { _ in .foreign(status: 502) }),
    ]

    private static func goAway(_ options: Options, isAnswered: Bool) -> GoAway {
        GoAway(isAnswered: isAnswered, lastStream: options.lastStream, reason: options.reason ?? "Shutdown")
    }

    private static let google: [(name: String, make: @Sendable (FCMFailure.RetryAfter) -> FCMFailure)] = [
        ("UNREGISTERED", { _ in .unregistered }),
        ("INVALID_TOKEN", { _ in .invalidToken }),
        ("INVALID_ARGUMENT", { _ in .invalidField("message.data", "scripted") }),
        ("TOO_BIG", { _ in .tooBig(5000) }),
        ("SENDER_ID_MISMATCH", { _ in .senderIDMismatch }),
        ("PERMISSION_DENIED", { _ in .permissionDenied }),
        ("THIRD_PARTY_AUTH_ERROR", { _ in .thirdPartyAuthError }),
        ("APPLE_INVALID_PROVIDER_TOKEN", { _ in .apple(.invalidProviderToken) }),
        ("APPLE_BAD_DEVICE_TOKEN", { _ in .apple(.badDeviceToken) }),
        ("UNAUTHENTICATED", { _ in .unauthenticated("scripted") }),
        ("NOT_FOUND", { _ in .projectNotFound }),
        ("QUOTA_EXCEEDED", { .quotaExceeded(.device, $0) }),
        ("PROJECT_QUOTA_EXCEEDED", { .quotaExceeded(.project, $0) }),
        ("UNAVAILABLE", { .unavailable($0) }),
        ("INTERNAL", { _ in .internalError }),
        ("UNSPECIFIED_ERROR", { _ in .unspecified }),
        ("UNHEARD", { _ in .unheardCode }),
    ]
}
