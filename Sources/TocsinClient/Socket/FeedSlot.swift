/// One reader's feed on a socket, and what waits for the reader.
struct FeedSlot {
    enum Stage {
        /// Waits for the socket.
        case waiting
        /// Its operation runs.
        case running
        /// Waits for its own timer.
        case pausing
        /// Waits for its reader.
        case parked
        /// Has nothing more to say than what waits.
        case over
    }

    /// A reader who leaves more than either unread is behind.
    static let mostItems = 256
    static let mostBytes = 1 << 20

    var operation: any SocketOperation
    var stage = Stage.waiting
    var operationID: String?
    /// Failures of its operations one after the other, while the socket worked.
    var failures = 0
    /// Its operation was sent after the last ping.
    var awaitsPing = false
    /// The ping whose answer says that it is live.
    var ping: Int?
    /// Its reader was told that it is live, and of no interruption since.
    var isToldLive = false
    /// A newer token was shown while it ran: if that has other rights, it may begin again once.
    var mayBeginAgain = false
    private var items: ArraySlice<(item: FeedItem, bytes: Int)> = []
    private var bytes = 0

    init(_ operation: any SocketOperation) { self.operation = operation }

    var wantsSocket: Bool { stage == .waiting || stage == .running || stage == .pausing }

    var hasItems: Bool { !items.isEmpty }

    var isFull: Bool { items.count >= Self.mostItems || bytes >= Self.mostBytes }

    /// Its reader has all but caught up.
    var isLow: Bool { items.count <= Self.mostItems / 4 && bytes <= Self.mostBytes / 4 }

    /// Keeps it for the reader, unless it says nothing new: that a feed was parked is its reader's
    /// own doing, and not told.
    mutating func put(_ item: FeedItem, bytes size: Int) {
        switch item {
        case .live where isToldLive: return
        case .live: isToldLive = true
        case .interrupted: isToldLive = false
        case .message, .event, .begun, .caughtUp, .end: break
        }
        items.append((item, item.isContent ? size : 0))
        bytes += item.isContent ? size : 0
    }

    mutating func take() -> FeedItem? {
        guard let first = items.popFirst() else { return nil }
        bytes -= first.bytes
        // A slice keeps what was taken off it.
        if items.isEmpty { items = [] }
        return first.item
    }
}
