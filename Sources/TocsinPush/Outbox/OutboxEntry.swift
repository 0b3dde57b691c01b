import TocsinCore

/// A delivery on its way through a send batch.
struct OutboxEntry: Sendable {
    var device: Device
    /// The delivery as it stands in the store, or would stand if it had been written.
    var delivery: Delivery
    /// Nil when nothing can be sent to the device.
    var lane: PushLane?
    /// Wishes of users that were heard of before the device was read, which shows those.
    var heardWishes: Int

    /// As the provider needs it.
    var target: PushTarget {
        var target = PushTarget(
            token: device.token,
            deliveryID: delivery.id,
            isEnvironmentAssumed: device.platform == .ios && device.environment == nil,
            badge: device.unread
        )
        target.kind = device.kind
        return target
    }
}

/// What became of an entry, so far.
enum EntryFate: Sendable, Hashable {
    case result(PushResult)
    /// Not sent now: the lane is paused, or there is no slot.
    ///
    /// The reason is the ledger's, if it has a new one.
    case held(until: Timestamp, reason: DeliveryReason? = nil)
    /// The message, the topic or the device is gone.
    case ended(reason: DeliveryReason)
    case expired
    /// Sent, and the server stops before the answer.
    case abandoned
}

/// What the outbox knows of a message.
enum LoadedMessage: Sendable, Hashable {
    case payload(PushPayload)
    /// Nothing is sent any more, for this reason.
    case ended(reason: DeliveryReason)
    /// Not even a row to refer to.
    case gone
}

/// An entry's next row, and what else is to be written with it.
struct SettledEntry: Sendable {
    var service: PushService
    var delivery: Delivery
    var retirement: Retirement?
    /// Where the device turned out to be, to be noted with it.
    var learnedEnvironment: PushEnvironment?
    /// Deliveries whose devices were retired earlier for what is the configuration's fault.
    var restored: [Delivery] = []

    /// Whether writing it touches more than the delivery's own row.
    var changesDevices: Bool { retirement != nil || learnedEnvironment != nil || !restored.isEmpty }

    /// A device to retire, unless it was registered again since.
    struct Retirement: Sendable {
        var reason: DeliveryReason
        var registeredBy: Timestamp
        /// The row if it was.
        var deliveryIfKept: Delivery
    }
}
