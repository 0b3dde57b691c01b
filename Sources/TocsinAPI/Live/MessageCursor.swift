package import TocsinCore

/// Tells the message at an offset from another that stands there after the database was restored
/// from before it.
struct MessageMark: Hashable, Sendable {
    let bits: UInt64
    private static let count = 30

    /// The mark of a message: the same one sent again after a restore has another.
    init(_ message: Record) {
        var hash = FNV.hash(message.id.utf8)
        hash = FNV.hash(String(message[ModelType.makingTime].int ?? 0).utf8, from: hash)
        bits = (hash ^ hash >> UInt64(Self.count)) & (1 << UInt64(Self.count) - 1)
    }

    init?(text: String) {
        guard let bits = UInt64(text, radix: 36) else { return nil }
        self.bits = bits
    }

    var text: String { String(bits, radix: 36) }
}

/// FNV-1a, for what need not be hard to find.
private enum FNV {
    static func hash(_ bytes: some Sequence<UInt8>, from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

/// Where a client stands: in a topic's feed, in the feed of all its messages, or in both.
///
/// It is signed, so that a changed cursor is refused (BAD_CURSOR) instead of skipping messages.
///
/// Any client can take a signed text apart, if not make one. So the position in an owner's feed,
/// which counts all of the owner's messages, is only in the cursors of that owner's own.
package struct MessageCursor: Hashable {
    struct InTopic: Hashable {
        var topicID: TopicID
        var number: MessageNumber
    }

    struct InOwnFeed: Hashable {
        /// Stands for the owner: a cursor of somebody else's feed means nothing in this one.
        var ownerMark: String
        var position: FeedPosition
    }

    var inTopic: InTopic?
    var inOwnFeed: InOwnFeed?
    /// The mark of the message that stands there, where one is known.
    var mark: MessageMark?

    /// A message's number in its topic; nil for a record that is no message.
    package init?(inTopicOf message: Record) {
        guard let topic = message["topicId"].text, let number = message.number else { return nil }
        inTopic = InTopic(topicID: TopicID(topic), number: number)
        mark = MessageMark(message)
    }

    /// An offset in a feed, whether or not a message stands there.
    init(_ scope: FeedScope, at offset: Int64, mark: MessageMark? = nil) {
        self.mark = mark
        switch scope {
        case .topic(let topic): inTopic = InTopic(topicID: topic, number: offset)
        case .owner(let owner): inOwnFeed = InOwnFeed(ownerMark: Self.mark(of: owner), position: offset)
        }
    }

    /// A message's offsets as far as this caller may know them; nil for a record that is no
    /// message.
    init?(of message: Record, for caller: Identity) {
        self.init(inTopicOf: message)
        if let owner = message.model.feedOwner(of: caller), message.owner == owner,
            let position = message.feedPosition
        {
            inOwnFeed = InOwnFeed(ownerMark: Self.mark(of: owner), position: position)
        }
    }

    /// Where the cursor stands in a feed; nil when it is one of another.
    func offset(in scope: FeedScope) -> Int64? {
        switch scope {
        case .topic(let topic): inTopic?.topicID == topic ? inTopic?.number : nil
        case .owner(let owner): belongs(to: owner) ? inOwnFeed?.position : nil
        }
    }

    /// Whether it was made of a message, or of the feed, of this owner.
    func belongs(to owner: String) -> Bool { inOwnFeed?.ownerMark == Self.mark(of: owner) }

    /// It need not be hard to find another text with this mark, which would only lead
    /// into the finder's own feed.
    private static func mark(of owner: String) -> String {
        String(FNV.hash(owner.utf8), radix: 36)
    }
}

// The text: `number topic`, `number.position.owner topic`, or `.position.owner ` without a number
// in a topic; `.mark` before the space where there is one.
extension MessageCursor {
    private static let scope = "cursor"

    /// Signed text that carries the cursor.
    package func text(sealer: any Sealer) -> String {
        var text = inTopic.map { String($0.number) } ?? ""
        if let own = inOwnFeed { text += ".\(own.position).\(own.ownerMark)" }
        if let mark { text += "." + mark.text }
        text += " " + (inTopic?.topicID.text ?? "")
        return sealer.sign(Array(text.utf8), scope: Self.scope)
    }

    /// The cursor, or nil when the text was changed or is none.
    init?(text: String, sealer: any Sealer) {
        guard let bytes = sealer.verified(text, scope: Self.scope), let space = bytes.firstIndex(of: 0x20) else {
            return nil
        }
        let parts = bytes[..<space].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard (1...4).contains(parts.count) else { return nil }
        if parts.count.isMultiple(of: 2) {
            guard let mark = MessageMark(text: parts[parts.count - 1]) else { return nil }
            self.mark = mark
        }
        if !parts[0].isEmpty {
            guard let number = Int64(parts[0]) else { return nil }
            let topic = String(decoding: bytes[(space + 1)...], as: UTF8.self)
            inTopic = InTopic(topicID: TopicID(topic), number: number)
        }
        guard parts.count >= 3 else { return }
        guard let position = Int64(parts[1]) else { return nil }
        inOwnFeed = InOwnFeed(ownerMark: parts[2], position: position)
    }
}
