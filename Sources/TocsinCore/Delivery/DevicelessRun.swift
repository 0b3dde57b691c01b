/// Messages of a topic with consecutive numbers, none of whose members had a device: a delivery for each message and member,
/// said once.
///
/// All that such a delivery tells follows from message, member and time (`Delivery.withoutDevice`), so that reads of
/// deliveries make it of the run and the message. Of a message that is gone a run tells nothing: so it is left when messages
/// are pruned or their month is dropped, and goes by its own age (`DeliveryReaper`), or with its topic.
package struct DevicelessRun: Sendable, Hashable {
    package let topicID: TopicID
    package fileprivate(set) var numbers: ClosedRange<MessageNumber>
    /// The topic's members, of whom there is one at least.
    package let users: [UserID]
    package let madeAt: Timestamp

    package init(topicID: TopicID, numbers: ClosedRange<MessageNumber>, users: [UserID], madeAt: Timestamp) {
        (self.topicID, self.numbers, self.users, self.madeAt) = (topicID, numbers, users, madeAt)
    }
}

/// Gathers the runs of messages that are made together.
struct DevicelessRuns {
    private(set) var all: [DevicelessRun] = []
    /// Where the last run of each topic stands.
    private var places: [TopicID: Int] = [:]

    /// Adds a message: to its topic's last run where it comes next.
    mutating func add(_ number: MessageNumber, of topic: TopicID, to users: [UserID], at now: Timestamp) {
        if let place = places[topic], all[place].numbers.upperBound == number - 1 {
            all[place].numbers = all[place].numbers.lowerBound...number
        } else {
            places[topic] = all.count
            all.append(DevicelessRun(topicID: topic, numbers: number...number, users: users, madeAt: now))
        }
    }
}
