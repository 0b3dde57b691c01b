import TocsinCore

/// Whether somebody may hear what this node rings; a node that is alone keeps its
/// rings for whoever comes.
///
/// **Why nobody who is there waits for a ring in vain.** A node enters the roster before it
/// listens, and when it listens another connection of its says so on the same channel
/// (`NotifyLine.listen`). So one that began to listen after this node did was heard, and one that
/// did before stands in the roster: this node takes itself to be alone only when two looks at the
/// roster, since its line came up or it heard anybody, found nobody; the second of them began after
/// the first had ended, and so after that. After a word of another, or a line that was lost, it
/// takes as many as a node stays in the roster seconds. What it rang while it thought itself alone
/// is rung once it hears somebody: whatever it committed after the other had begun to listen and
/// looked for itself is told within a moment.
///
/// A node that was stalled until the roster forgot it, or could not enter itself, greets every
/// five seconds, and at once when it goes on; until it is heard it looks by itself, as every node
/// does four times a second.
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

    /// A look at the roster has found others that live, or nobody.
    mutating func note(othersLive: Bool) {
        looksToGo = othersLive ? max(looksToGo, Self.firstLooks) : max(0, looksToGo - 1)
    }
}
