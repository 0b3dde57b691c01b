/// Messages of a topic with consecutive numbers, none of whose members had a device: a delivery for each message and member,
/// said once.
///
/// All that such a delivery tells follows from message, member and time (`Delivery.withoutDevice`), so that reads of
/// deliveries make it of the run and the message. Of a message that is gone a run tells nothing: so it is left when messages
/// are pruned or their month is dropped, and goes by its own age (`DeliveryReaper`), or with its topic.
package struct DevicelessRun: Sendable, Hashable {
    package let topicID: TopicID
    package let numbers: ClosedRange<MessageNumber>
    /// The topic's members, of whom there is one at least.
    package let users: [UserID]
    package let madeAt: Timestamp

    package init(topicID: TopicID, numbers: ClosedRange<MessageNumber>, users: [UserID], madeAt: Timestamp) {
        (self.topicID, self.numbers, self.users, self.madeAt) = (topicID, numbers, users, madeAt)
    }
}
