import TocsinCore

/// An event on its way to a group.
struct LiveEvent: Sendable {
    /// What an event ends that is no change of a record that anybody is told of.
    enum Ending: Sendable {
        /// The group's topic was deleted: what came before is still told, nothing after it.
        case deletion
        /// Some of the group's members have lost the topic.
        case grant(GrantLoss, TopicID)
    }

    /// The commit that brought it, as the feed counts them.
    var commit: Int
    /// Which of all events it is: the same for every group that is to hear it.
    var number: Int
    var change: RecordChange
    var record: Record
    /// When its commit was durable, and whether this node made it.
    var committedAt = ContinuousClock.now
    var isFromHere = true
    /// Where it stands in the group's feed, once it is known which group's.
    var offset: Int64?
    /// The mark of the record, where it is a message.
    var mark: MessageMark?
    /// What subjects in use had been granted of the record's topic when it was committed.
    var grants: TopicGrants?
    /// When it was sorted, which grants are held against.
    var sortedAt = Timestamp(milliseconds: 0)
    /// What it ends; nil for changes that are told of.
    var ending: Ending?

    /// Whether grants gave what a predicate asks of them.
    func isGranted(_ question: GrantQuestion) -> Bool {
        grants?.give(question.need, to: question.subjects, at: sortedAt) ?? false
    }
}

extension Record {
    /// The topic by whose grants it is shared: its own, or that of a message.
    var sharedTopic: TopicID? { model.name == "Topic" ? TopicID(id) : self["topicId"].text.map { TopicID($0) } }
}
