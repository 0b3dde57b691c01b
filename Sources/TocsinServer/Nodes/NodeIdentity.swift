import Synchronization
package import TocsinCore
import TocsinStore

/// What tells this run of the server from all others on its database, and what it needs from the
/// start to be one of several.
struct NodeIdentity: Sendable {
    let name: String
    /// Unlike that of any other run, so that two nodes of one name harm nobody.
    let instance: String
    let journal: Journal
    let time: DatabaseTime
    /// Rung after commits that others are to hear of.
    let signal = CommitSignal()
    /// Commits of more events are of a stream: their writes have waited for each other.
    private static let mostEventsAtOnce = 8

    /// nil where the database is this node's alone.
    init?(_ settings: Settings, database: any SQLDatabase, time: any TimeSource) {
        guard database.isShared else { return nil }
        name = settings.server.nodeName
        instance = Self.instance(name, time)
        journal = Journal(instance: instance)
        self.time = DatabaseTime(time)
    }

    /// A name with some random digits, of characters that every carrier takes.
    static func instance(_ name: String, _ time: any TimeSource) -> String {
        let digits = SystemIdentifiers(time: time).makeID().suffix(8)
        let plain = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") }
        return plain.prefix(64) + "-" + digits
    }

    /// What the store's observer does with a commit's events: those whose order
    /// matters wait for the journal.
    func observer(_ hub: EventHub) -> @Sendable ([DomainEvent]) -> Void {
        let (journal, signal) = (journal, signal)
        return { events in
            hub.publish(Journal.immediate(events))
            guard journal.takeNews() else { return }
            signal.ring(events.count > Self.mostEventsAtOnce ? .soon : .atOnce)
        }
    }
}

/// Rings whoever is to hear of commits; they come later than the store that rings.
package final class CommitSignal: Sendable {
    /// A closure that is a mutex's whole value is wrapped anew by each access, and kept so.
    private struct State {
        var listener: (@Sendable (RingHaste) -> Void)?
    }

    private let state = Mutex(State())

    /// Rings nobody until somebody is connected.
    package init() {}

    /// Calls whoever is connected; returns at once.
    package func ring(_ haste: RingHaste) { state.withLock { $0.listener }?(haste) }

    /// Sets who is called from now on, on the store's thread.
    package func connect(_ listener: @escaping @Sendable (RingHaste) -> Void) {
        state.withLock { $0.listener = listener }
    }
}
