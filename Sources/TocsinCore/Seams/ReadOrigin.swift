/// For whom something is read: owners take turns, and the server's own work waits for none of them.
package enum ReadOrigin: Sendable, Hashable {
    /// The server's own work: outbox, revocation, journal, upkeep.
    case server
    /// A client, by its owner text.
    case owner(String)
}

extension Identity {
    /// Reads for this caller.
    package var reads: ReadOrigin { .owner(owner) }
}
