/// Durable storage.
///
/// `read` and `write` each run one synchronous closure on a thread of the store. What a `write`
/// closure did is durable when `write` returns; a closure that throws leaves nothing behind.
/// Concurrent writes are committed in groups, each with its own outcome, in the order in which they
/// were called.
///
/// What a closure may ask and do is listed by aggregate, a file each, beside this one.
package protocol Store: Sendable {
    /// Runs a closure over one consistent snapshot.
    ///
    /// A read whose task is cancelled leaves the queue at once, or is interrupted, and throws
    /// `StoreError.stopped`. Clients' reads take turns by owner; too many of one owner are refused
    /// as unavailable, to that owner alone.
    func read<Value: Sendable>(
        for origin: ReadOrigin,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value

    /// Runs a closure in the current write group's transaction; again from the start when another
    /// write of the group fails, so it must do nothing outside but answer.
    ///
    /// A write whose task is cancelled before its turn is not begun and throws
    /// `StoreError.stopped`; one begun is completed. Events noted with `StoreWriter.note` reach the
    /// store's observer after the commit, in order, before `write` returns.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value

    /// Lets a write wait for its group; it answers its caller itself, maybe before this returns.
    func enqueue(_ write: any QueuedWrite)
    /// What the caller of a write that was enqueued is told of its failure.
    func told(_ failure: StoreError) -> StoreError
}

extension Store {
    /// `read` for the server's own work.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await read(for: .server, body)
    }
}

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

/// Everything a read may ask.
package protocol StoreReader:
    RecordReading, MessageReading, MembershipReading, DeviceReading, FanoutReading, DeliveryReading,
    AccountReading, GroupReading, WebhookEventReading, NodeReading, TimerReading, ScheduledMessageReading,
    UserSettingsReading, AuditReading, GrantReading, DigestReading, SessionReading,
    IncidentReading, IntegrationReading, MonitorReading, IdentityReading, ButtonReading
{}

/// Everything a write may do; it sees its own writes.
package protocol StoreWriter:
    StoreReader, RecordWriting, MessageWriting, MembershipWriting, DeviceWriting, FanoutWriting, DeliveryWriting,
    AccountWriting, GroupWriting, WebhookEventWriting, NodeWriting, TimerWriting, ScheduledMessageWriting,
    UserSettingsWriting, AuditWriting, GrantWriting, DigestWriting, SessionWriting,
    IncidentWriting, IntegrationWriting, MonitorWriting, IdentityWriting, ButtonWriting
{
    /// Reads in the same transaction that hold no rows against other writers: for what is looked at
    /// before rows are locked in their order.
    var unlocked: any StoreReader { get }
    /// Tells the observer of commits about these events once they are durable.
    func note(_ events: [DomainEvent])
}

extension StoreWriter {
    /// Tells the observer of commits about this event once it is durable.
    package func note(_ event: DomainEvent) { note([event]) }
}
