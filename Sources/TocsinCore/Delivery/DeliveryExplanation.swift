/// Why a message reached, will reach or does not reach a user's devices: every
/// gate on its way, in order.
package struct DeliveryExplanation: Sendable, Hashable {
    /// A condition that a push must meet.
    package enum GateName: String, Sendable, Hashable, CaseIterable {
        case message, membership, access, incident, topicPush, notifications, expiry, devices
        case deviceActive, deviceFresh, provider, lane, delivery
    }

    /// One condition, and whether it is met.
    package struct Gate: Sendable, Hashable {
        /// Which condition it is.
        package var name: GateName
        /// Nil: not decided yet.
        package var passed: Bool?
        /// What is the case.
        package var sentence: String
        /// What to do, where something can be done.
        package var advice: String?
        /// The device it is about; nil: all.
        package var device: Device?
    }

    /// The message that was asked about.
    package var messageID: MessageID
    /// The user who was asked about.
    package var userID: UserID
    /// All conditions, in the order in which a push meets them.
    package var gates: [Gate]
    /// The user's rows in the ledger for this message.
    package var deliveries: [DeliveryService.Entry]

    /// One sentence: what became of it, or what is in the way.
    package var summary: String {
        let accepted = deliveries.count { $0.delivery.status == .accepted }
        if accepted > 0 { return "The push was accepted for \(accepted) of \(deliveries.count) devices." }
        if let obstacle = gates.first(where: { $0.passed == false }) { return obstacle.sentence }
        return gates.last { $0.passed == nil }?.sentence ?? "Nothing is in the way."
    }

    /// Whether a provider has accepted a push for at least one device.
    package var isAccepted: Bool { deliveries.contains { $0.delivery.status == .accepted } }
}
