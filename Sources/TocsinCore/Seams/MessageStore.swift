/// What a read may ask about messages and the feeds that they are in.
package protocol MessageReading {
    /// The messages with these keys, each in its topic; in no promised order.
    func messages(_ model: ModelType, keys: Set<MessageKey>) throws(StoreError) -> [Record]
    /// The numbers of a topic's messages; nil when there is no such topic.
    func feedBounds(of topic: TopicID) throws(StoreError) -> FeedBounds?
    /// The positions of an owner's messages.
    func feedBounds(of owner: String) throws(StoreError) -> FeedBounds
    /// Looks at the next topics after one by id, those that are gone but have messages included.
    ///
    /// Answers which have a message that the bounds leave out, and the last one looked at; nil
    /// behind the last of all.
    func topicsToPrune(
        _ bounds: PruningBounds,
        after topic: TopicID,
        limit: Int
    ) throws(StoreError) -> (due: [TopicID], last: TopicID?)
    /// The first messages of a topic by number that may go, up to the first that may not.
    ///
    /// A message may not go if it is kept, or on its way to somebody (a fan-out, a delivery that is
    /// not final).
    func messagesToPrune(
        _ bounds: PruningBounds,
        of topic: TopicID,
        limit: Int
    ) throws(StoreError) -> [MessageID]
}

/// How messages are numbered, written and removed.
package protocol MessageWriting {
    /// Locks the rows that messages of these owners in these topics are numbered by, in the order
    /// in which all writers do, and looks at the topics then.
    func hold(
        _ topics: [TopicID],
        of model: ModelType,
        feedsOf owners: [String]
    ) throws(StoreError) -> HeldTopics
    /// Stores new messages, which the database numbers, and notes that they were created.
    ///
    /// Messages of several topics need `hold` before, which locks the topics in order.
    ///
    /// They have their numbers once the database has answered: after `awaitAnswers` at the latest,
    /// and when the write is durable. A failure may be thrown as late: of an id that is taken, or
    /// of a topic that is not there.
    func create(_ messages: NewMessages) throws(StoreError)
    /// Waits for answers of the database that nobody has waited for.
    func awaitAnswers() throws(StoreError)
    /// Removes settled deliveries of a topic's first messages, given by `messagesToPrune`, then the
    /// messages.
    ///
    /// Of both together at most `limit` rows go, and no message behind one that is on its way to
    /// somebody again. What is left are the last numbers of the topic, and the bounds of topic and
    /// owners' feeds say from where. Nil: another node is pruning.
    func prune(_ messages: [MessageID], of topic: TopicID, limit: Int) throws(StoreError) -> PruningStep?
}

/// What a feed holds.
package struct FeedBounds: Hashable, Sendable {
    /// The lowest offset that is still kept; what was below it has been pruned.
    package var first: Int64
    /// The highest offset handed out so far; `first - 1` in a feed that holds nothing.
    package var last: Int64

    /// Bounds of a feed; by default of one that never held anything.
    package init(first: Int64 = 1, last: Int64 = 0) {
        self.first = first
        self.last = last
    }
}

/// The caller's dedupe key of a message, in its topic.
package struct MessageKey: Sendable, Hashable {
    /// The topic that the key belongs to.
    package var topicID: TopicID
    /// The key as the client gave it, up to 256 bytes.
    package var key: String

    /// The key of a message in a topic.
    package init(topicID: TopicID, key: String) {
        self.topicID = topicID
        self.key = key
    }

    /// By bytes, as the database compares keys: two spellings of a letter are two keys.
    package static func == (left: Self, right: Self) -> Bool {
        left.topicID == right.topicID && left.key.hasBytes(of: right.key)
    }

    /// Hashes the bytes that `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(topicID)
        for byte in key.utf8 { hasher.combine(byte) }
    }
}

/// Which messages may go: those that either bound leaves out.
package struct PruningBounds: Sendable, Hashable {
    /// Messages that the server took before this may go; nil: age alone removes none.
    package var madeBefore: Timestamp?
    /// How many of a topic's last messages stay; nil: number alone removes none.
    package var keptPerTopic: Int?

    /// Bounds as of one moment.
    package init(madeBefore: Timestamp?, keptPerTopic: Int?) {
        self.madeBefore = madeBefore
        self.keptPerTopic = keptPerTopic
    }
}

/// What one step of pruning a topic did.
package struct PruningStep: Sendable, Hashable {
    /// Messages removed.
    package var messages: Int
    /// Deliveries removed, those of messages that stay for the next step included.
    package var deliveries: Int

    /// A step that removed so many of each.
    package init(messages: Int, deliveries: Int) {
        self.messages = messages
        self.deliveries = deliveries
    }
}
