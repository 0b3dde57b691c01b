/// Which messages a device has shown, so that each is shown once, whichever way it came.
///
/// The newest ids are kept and the oldest forgotten. Keep `ids` in a file, and make the set anew
/// from it at the next start.
public struct ShownMessages: Sendable, Hashable {
    /// How many ids are kept at most.
    public let limit: Int
    private var order: [String] = []
    /// Where the oldest id stands once the list is full.
    private var oldest = 0
    private var known: Set<String> = []

    /// A set that remembers these ids, the oldest first.
    public init(_ ids: [String] = [], limit: Int = 1000) {
        self.limit = max(1, limit)
        for id in ids { insert(id) }
    }

    /// The ids, the oldest first.
    public var ids: [String] { Array(order[oldest...] + order[..<oldest]) }

    /// How many there are.
    public var count: Int { order.count }

    /// Whether this message was shown.
    public func contains(_ messageID: String) -> Bool { known.contains(messageID) }

    /// Notes that a message is shown; answers whether it is the first time.
    @discardableResult
    public mutating func insert(_ messageID: String) -> Bool {
        guard known.insert(messageID).inserted else { return false }
        if order.count < limit {
            order.append(messageID)
        } else {
            known.remove(order[oldest])
            order[oldest] = messageID
            oldest = (oldest + 1) % limit
        }
        return true
    }

    /// Whether a push is to be shown now, and notes that it is; one without an id always is.
    public mutating func shows(_ push: PushContent) -> Bool {
        guard !push.isSilent else { return false }
        guard let id = push.messageID else { return true }
        return insert(id)
    }
}
