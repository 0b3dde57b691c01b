/// Messages of a topic with consecutive numbers, none of whose members had a device: a delivery for each message and member,
/// said once.
///
/// All that such a delivery tells follows from message, member and time (`Delivery.withoutDevice`), so that reads of
/// deliveries make it of the run and the message. Of a message that is gone a run tells nothing: so it is left when messages
/// are pruned, and goes by its own age (`DeliveryReaper`), or with its topic.
package struct DevicelessRun: Sendable, Hashable {
    package let topicID: TopicID
    package let numbers: ClosedRange<MessageNumber>
    /// The topic's members, of whom there is one at least.
    package let users: [UserID]
    /// When its first messages were made.
    package let madeAt: Timestamp

    /// The last messages of a run are made less than so long after its first, since it goes as a whole.
    package static let longestSeconds = 3600.0

    package init(topicID: TopicID, numbers: ClosedRange<MessageNumber>, users: [UserID], madeAt: Timestamp) {
        (self.topicID, self.numbers, self.users, self.madeAt) = (topicID, numbers, users, madeAt)
    }
}
