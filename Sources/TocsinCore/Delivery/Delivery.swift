/// States of one message for one device (`docs/delivery-states.md`).
package enum DeliveryStatus: String, Sendable, Hashable, CaseIterable {
    case waiting, sending, accepted, failed, ended, expired, skipped
}

/// One message to one device: a row of the outbox.
///
/// Unique by (message, device).
package struct Delivery: Sendable, Hashable {
    /// Lower-case UUID derived from message and device, so that a repeated page
    /// sends the same `apns-id`.
    package var id: DeliveryID
    /// The message that is pushed.
    package var messageID: MessageID
    /// The device, or what `DeviceID.missing(of:)` makes for a member without one.
    package var deviceID: DeviceID
    /// Nil: the member has no device.
    package var platform: PushPlatform?
    /// Where the delivery stands.
    package var status: DeliveryStatus
    /// The provider's reason or ours, for people and programs: `Unregistered`,
    /// `PROVIDER_NOT_CONFIGURED`….
    package var reason: DeliveryReason?
    /// Answers and broken requests so far that say something of this delivery; at most 50.
    package var attempts: Int
    /// When the delivery is due, while it waits; nil in all other states.
    package var nextAttemptAt: Timestamp?
    /// Until when its holder may send it, while it is `sending`; nil in all other states.
    package var leaseUntil: Timestamp?
    /// The provider's own id of the accepted push (`apns-id`, FCM's name); nil before that.
    package var providerID: String?
    /// When the row was last written.
    package var updatedAt: Timestamp
    /// When somebody asked for it again by hand: its life time begins anew then.
    ///
    /// Written by `redrive` only.
    package var redrivenAt: Timestamp?

    /// A delivery from its stored values; by default one that no attempt has been made for.
    package init(
        id: DeliveryID,
        messageID: MessageID,
        deviceID: DeviceID,
        platform: PushPlatform?,
        status: DeliveryStatus,
        reason: DeliveryReason? = nil,
        attempts: Int = 0,
        nextAttemptAt: Timestamp? = nil,
        leaseUntil: Timestamp? = nil,
        providerID: String? = nil,
        updatedAt: Timestamp,
        redrivenAt: Timestamp? = nil
    ) {
        self.id = id
        self.messageID = messageID
        self.deviceID = deviceID
        self.platform = platform
        self.status = status
        self.reason = reason
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.leaseUntil = leaseUntil
        self.providerID = providerID
        self.updatedAt = updatedAt
        self.redrivenAt = redrivenAt
    }
}

/// Counts of a message's deliveries by state; `sending` counts as waiting.
package struct DeliverySummary: Sendable, Hashable {
    /// How many deliveries are in each state; a state without deliveries may be missing.
    package var counts: [DeliveryStatus: Int]
    /// Whether the message is still on its way to devices, of which nothing is counted yet.
    package var isFanningOut = false

    /// A summary of counts; without an argument, of no delivery.
    package init(counts: [DeliveryStatus: Int] = [:]) {
        self.counts = counts
    }

    /// All deliveries in one word.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Some are not settled yet.
        case pending
        /// Every push that was to be sent was accepted, one at least.
        case allAccepted
        /// Some were accepted, others failed, ended or expired.
        case partly
        /// Nothing was accepted, and nothing waits: all failed, or nothing was to be sent.
        case none
    }

    /// The word for these counts; what was skipped was not to be sent, and counts for nothing.
    package var state: State {
        func count(_ states: DeliveryStatus...) -> Int { states.reduce(0) { $0 + (counts[$1] ?? 0) } }
        if isFanningOut || count(.waiting, .sending) > 0 { return .pending }
        if count(.accepted) == 0 { return .none }
        return count(.failed, .ended, .expired) == 0 ? .allAccepted : .partly
    }
}

extension Identifier where Kind == DeliveryKind {
    /// The id of a message's delivery to a device, the same in a repeated page.
    package init(of message: MessageID, to device: DeviceID) {
        self.init(DerivedUUID.text(of: message.text, device.text))
    }
}

extension Identifier where Kind == DeviceKind {
    private static var prefix: String { "no-device:" }

    /// Stands in the ledger for the device that a member of a topic does not have; no
    /// device's id has a colon.
    package static func missing(of user: UserID) -> DeviceID { DeviceID(prefix + user.text) }

    /// The user who has no device; nil when this is a device.
    package var userWithoutDevice: UserID? {
        text.hasPrefix(Self.prefix) ? UserID(String(text.dropFirst(Self.prefix.count))) : nil
    }
}

/// A message's way to its topic's devices: a range of device ids still to be
/// served, claimed with a lease.
package struct Fanout: Sendable, Hashable {
    /// The message that is to be pushed.
    package var messageID: MessageID
    /// The topic whose members' devices are to get it.
    package var topicID: TopicID
    /// The range is `firstDevice..<lastDevice` by bytes of the id; an empty
    /// `lastDevice` has no end.
    package var firstDevice: String
    /// The end of the range, itself not part of it; empty: the range has no end.
    package var lastDevice: String
    /// Devices with an id greater than this are still to be served; empty at the start.
    package var nextDevice: String
    /// Until when `node` holds the fan-out; nil: nobody does.
    package var leaseUntil: Timestamp?
    /// The node that holds it; nil: nobody does.
    package var node: String?
    /// When the message was committed: only devices registered by then are served.
    package var createdAt: Timestamp
    /// Whether it goes before those that are not: a message of priority 5.
    package var isUrgent: Bool

    /// A fan-out from its stored values; by default over all devices, held by nobody.
    package init(
        messageID: MessageID,
        topicID: TopicID,
        firstDevice: String = "",
        lastDevice: String = "",
        nextDevice: String = "",
        leaseUntil: Timestamp? = nil,
        node: String? = nil,
        createdAt: Timestamp,
        isUrgent: Bool = false
    ) {
        self.messageID = messageID
        self.topicID = topicID
        self.firstDevice = firstDevice
        self.lastDevice = lastDevice
        self.nextDevice = nextDevice
        self.leaseUntil = leaseUntil
        self.node = node
        self.createdAt = createdAt
        self.isUrgent = isUrgent
    }
}

extension Delivery {
    /// The row of a member who has no device to send to, so that they are
    /// not missing without a word.
    package static func withoutDevice(_ message: MessageID, to user: UserID, at now: Timestamp) -> Delivery {
        let device = DeviceID.missing(of: user)
        return Delivery(
            id: DeliveryID(of: message, to: device),
            messageID: message,
            deviceID: device,
            platform: nil,
            status: .skipped,
            reason: .noDevice,
            updatedAt: now
        )
    }
}
