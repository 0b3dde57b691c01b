/// Where a reader stands in a topic's feed.
public struct FeedPlace: Sendable, Hashable {
    /// The topic's id.
    public let topicID: String
    /// The number of the last message; 0 in a topic that had none.
    public let number: Int64
    /// The cursor of that message; `nil` where there is none yet.
    public let cursor: String?

    /// A place of these parts.
    public init(topicID: String, number: Int64, cursor: String?) {
        self.topicID = topicID
        self.number = number
        self.cursor = cursor
    }
}

extension FeedMessage {
    /// Where a reader of this message stands.
    public var place: FeedPlace { FeedPlace(topicID: topicID, number: number, cursor: cursor) }
}
