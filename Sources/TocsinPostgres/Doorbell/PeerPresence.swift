import TocsinCore

/// Whether another node may hear what this node rings.
///
/// A node that is alone rings nobody. It keeps its rings, and rings once for them when it hears
/// somebody, so another node learns within a moment of what was committed after it began to listen.
///
/// **Why no node that is there waits for a ring in vain.** A node enters the registry before it
/// listens. When it listens, another of its connections says so on the same channel
/// (`NotifyLine.listen`).
///
/// 1. A node that began to listen after this one was heard by it.
/// 2. A node that began before stands in the registry. This node takes itself to be alone only
///    after two looks at the registry found nobody. Both began after its line came up, and the
///    second after the first had ended.
/// 3. After a word of another node, or after its line was lost, it takes as many looks as a node
///    stays in the registry, in seconds.
///
/// A node that stalled until the registry forgot it, or could not enter itself, greets every five
/// seconds, and at once when it goes on. Until it is heard it looks by itself, as every node does
/// four times a second.
struct PeerPresence {
    private static let firstLooks = 2
    /// Looks are a second apart or more.
    private static let looksAfterWord = Int(NodeEntry.lifeSeconds)
    private var looksToGo = looksAfterWord
    private var hadLine = false

    /// Whether rings are to go out.
    var isThere: Bool { looksToGo > 0 }

    /// The line listens, for the first time or again.
    mutating func lineCameUp() {
        looksToGo = hadLine ? Self.looksAfterWord : Self.firstLooks
        hadLine = true
    }

    /// Another node has rung, or tried its line.
    mutating func heardWord() { looksToGo = Self.looksAfterWord }

    /// A look at the registry has found others that live, or nobody.
    mutating func note(othersLive: Bool) {
        looksToGo = othersLive ? max(looksToGo, Self.firstLooks) : max(0, looksToGo - 1)
    }
}
