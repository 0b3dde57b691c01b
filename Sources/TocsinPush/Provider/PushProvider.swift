package import TocsinCore

/// Whose push service it is.
package enum PushService: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case apns, fcm
    /// Browsers, each at a push service of its own choice.
    case webPush = "webpush"

    /// As logs and health reports name it.
    package var description: String { rawValue }

    /// The service that reaches a device: the one whose token it has.
    package init(reaching device: Device) {
        switch device.platform {
        case .ios: self = device.isNamedByFirebase ? .fcm : .apns
        case .android: self = .fcm
        case .web: self = WebPushSubscription.isOne(device.token) ? .webPush : .fcm
        }
    }
}

/// What pushes must have in common to share a payload, a connection and a pause.
///
/// When a provider is in trouble, a lane is paused as a whole.
package struct PushLane: Sendable, Hashable {
    /// The push service that carries the lane's pushes.
    package var service: PushService
    /// The platform of the lane's devices.
    package var platform: PushPlatform
    /// The bundle id at APNs, the project at FCM, the origin of a browser's push service.
    package var appID: String
    /// APNs only.
    package var environment: PushEnvironment?
    /// Whose credentials: the app's id in the settings; empty for the default app.
    package var app = ""

    /// A lane of the default app; `app` names another.
    package init(service: PushService, platform: PushPlatform, appID: String, environment: PushEnvironment?) {
        self.service = service
        self.platform = platform
        self.appID = appID
        self.environment = environment
    }
}

/// One push of an order.
package struct PushTarget: Sendable, Hashable {
    /// The provider's token of the device; never logged.
    package var token: String
    /// The delivery's id, which the provider is sent too.
    package var deliveryID: DeliveryID
    /// What kind of name the token is.
    package var kind = PushTokenKind.token
    /// Whether the lane's environment is a guess, because the device named none.
    package var isEnvironmentAssumed: Bool
    /// How many messages the device's owner has not read; nil where nobody counts.
    package var badge: Int64?
    /// Links of the buttons, made for the device's owner: a JSON object; nil: there are none.
    package var links: String?

    /// A target; `kind` is a token unless it is set otherwise.
    package init(token: String, deliveryID: DeliveryID, isEnvironmentAssumed: Bool = false, badge: Int64? = nil) {
        self.token = token
        self.deliveryID = deliveryID
        self.isEnvironmentAssumed = isEnvironmentAssumed
        self.badge = badge
    }
}

/// One message to many devices of a lane.
package struct PushOrder: Sendable {
    /// What is to be shown.
    package var payload: PushPayload
    /// What all targets have in common.
    package var lane: PushLane
    /// The devices, in any order.
    package var targets: [PushTarget]
    /// The provider should forget what it could not hand over by then.
    package var deadline: Timestamp
    /// Why a target, by its index, is not to be sent to any more; asked as late as can be,
    /// nil where all still are.
    package var cancellation: (@Sendable (_ index: Int) -> DeliveryReason?)?

    /// An order; `cancellation` is set where pushes may be cancelled.
    package init(payload: PushPayload, lane: PushLane, targets: [PushTarget], deadline: Timestamp) {
        self.payload = payload
        self.lane = lane
        self.targets = targets
        self.deadline = deadline
    }
}

/// What became of one push.
package enum PushResult: Sendable, Hashable {
    /// The provider took it; the id is the provider's.
    ///
    /// `environment` is where the device turned out to be, if that was not known.
    case accepted(providerID: String?, environment: PushEnvironment? = nil)
    case retry(PushRetry)
    /// The device is gone, since the given moment if the provider says so.
    case retire(reason: DeliveryReason, deadSince: Timestamp?)
    /// The provider will never take this payload: our bug, the device is innocent.
    case refused(reason: DeliveryReason)
    /// Nothing will pass on this lane until somebody or something mends it;
    /// the delivery is innocent.
    case pause(reason: DeliveryReason)
    /// Not to be sent at all.
    case skipped(reason: DeliveryReason)
}

/// Why and when to try again.
package struct PushRetry: Sendable, Hashable {
    /// What failed; decides the schedule and who waits.
    package enum Cause: Sendable, Hashable {
        /// An answer about this device or message alone.
        case answer
        /// The project's quota is used up, the device is innocent: all of its pushes slow down.
        case quota
        /// The device gets too many: only its pushes wait.
        case deviceQuota
        /// An answer that says the provider is in trouble.
        case serverFault
        /// The stream or connection broke, or time ran out: it may have been accepted.
        case brokenRequest
        /// The provider did not look at it.
        case notProcessed
    }

    /// What failed.
    package var cause: Cause
    /// The provider's reason or ours, for the ledger.
    package var reason: DeliveryReason
    /// The provider's wish (Retry-After), or the least pause for this answer.
    package var afterSeconds: Double?
    /// Whether the attempt says something of this delivery.
    package var countsAttempt: Bool

    /// A retry; by default it counts as an attempt and waits as the schedule says.
    package init(_ cause: Cause, reason: DeliveryReason, afterSeconds: Double? = nil, countsAttempt: Bool = true) {
        self.cause = cause
        self.reason = reason
        self.afterSeconds = afterSeconds
        self.countsAttempt = countsAttempt
    }
}

extension PushResult {
    /// The message's time was over before the push could leave: the outbox finds it expired.
    static let tooLate = PushResult.retry(PushRetry(.answer, reason: .tooLate, afterSeconds: 0, countsAttempt: false))
}

/// A push service as the outbox sees it.
package protocol PushProvider: Sendable {
    var service: PushService { get }

    /// The lane of a device; nil with no way to name its app.
    func lane(of device: Device) -> PushLane?

    /// Whether the credentials are for this lane's side; asked of lanes of its own app only.
    func serves(_ lane: PushLane) -> Bool

    /// Sends an order; calls `settled` with each target's index exactly once, in any order, from
    /// any thread, and returns when all have been called. Every way to fail is a `PushResult`.
    func send(_ order: PushOrder, settled: @escaping @Sendable (_ index: Int, _ result: PushResult) -> Void) async
}

extension PushProvider {
    /// Credentials that know no sides serve all.
    package func serves(_ lane: PushLane) -> Bool { true }
}
