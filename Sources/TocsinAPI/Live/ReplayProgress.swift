import TocsinCore

/// How far a replay is, and how much it reads next: about a quarter of a megabyte, which of small messages is some hundred.
struct ReplayProgress {
    /// The offset of the message read last.
    private(set) var last: Int64
    /// How many messages the next page has at most.
    private(set) var limit = 32

    /// A page ends behind the message with which its texts come to so much.
    static let bytesOfPage = 262_144
    private static let messagesOfPage = 200

    /// A replay of what comes after an offset.
    init(last: Int64) { self.last = last }

    /// A page was sent; the next messages are probably as large as its.
    mutating func note(_ page: FeedPage) {
        last = page.end
        let bytes = page.messages.reduce(0) { $0 + $1.approximateBytes }
        let average = bytes / max(1, page.messages.count)
        limit = max(4, min(Self.messagesOfPage, limit * 4, Self.bytesOfPage / max(1, average)))
    }
}
