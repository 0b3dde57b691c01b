import Synchronization
package import TocsinCore

private enum SQL {
    static let add = "INSERT INTO node_events (node, serial, body) VALUES ($1, $2, $3)"
    /// A node gives a serial once.
    static let isThere = """
        SELECT 1 FROM node_events
        WHERE node = $1 AND serial = $2 AND xid >= $3::text::xid8 AND xid <= $4::text::xid8
        """
}

/// What this node writes into the journal: which of a group's events the other nodes are
/// told of, in its transaction.
///
/// **Why a journal, and not only a doorbell.** Nodes must hear what one of them commits: messages,
/// changes, sign-outs, ended access, work for the outbox. A doorbell may lose a ring and has no
/// room for content. So the group's own transaction writes one row (`node_events`) that names what
/// happened, and the doorbell only says "look now". A row names records and does not repeat
/// messages; nodes with listeners read those, once.
///
/// **Why its order is right.** A row takes its `id` from a sequence in the last statement before
/// `COMMIT`, when the group holds all its locks. Of two groups that touch the same topic, feed or
/// record, the later one waits for the earlier one before it gets that far. So in each topic and
/// feed the journal's order is that of the commits. Groups that share nothing may be in either
/// order, and nobody can tell. `JournalReader` says why no row is skipped.
///
/// **This node's own events take the same way.** Told at once, they could overtake another node's
/// with a lower number, and would have to be held until that is found. One reader that goes by the
/// journal holds nothing. The records are kept here until the reader comes to their row, so it need
/// not read them again. None are kept when nobody listened to records at its last look, or when it
/// was there before the commit's answer. This node is told at once of what does not depend on order
/// (work for the outbox, withdrawn access).
package final class Journal: Sendable {
    /// The records of one of this node's groups.
    struct Kept {
        var events: [DomainEvent]
        /// When this node knew that they are durable.
        var committedAt: ContinuousClock.Instant
    }

    private struct State {
        var lastSerial: Int64 = 0
        var kept: [Int64: Kept] = [:]
        var oldestKept: Int64 = 1
        var keptCount = 0
    }

    /// Records kept; beyond it those of the oldest groups are read again from the database.
    private static let maximumKept = 4096
    /// What is told at its place in the journal: records, and who may hear of them.
    private static let ordered: EventKinds = [.records, .grantsChanged]
    /// Unlike that of any other run of the server.
    package let instance: String
    private let state = Mutex(State())
    private let news = Atomic(false)
    private let others = Atomic(false)
    private let keeps = Atomic(true)

    /// A journal of this run of the server, which has written nothing yet.
    package init(instance: String) {
        self.instance = instance
    }

    /// Whether something was written since the last call.
    package func takeNews() -> Bool { news.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether somebody listens to deliveries on another node.
    package var tellsDeliveries: Bool {
        get { others.load(ordering: .acquiring) }
        set { others.store(newValue, ordering: .releasing) }
    }

    /// Whether records wait here for the reader; those that do not it reads from the
    /// database, if anybody wants them.
    var keepsRecords: Bool {
        get { keeps.load(ordering: .acquiring) }
        set { keeps.store(newValue, ordering: .releasing) }
    }

    /// What of a group's events is told at once, and not when the reader comes to its row: work for
    /// the outbox or for webhooks once, however many writes have brought some.
    package static func immediate(_ events: [DomainEvent]) -> [DomainEvent] {
        var told = Self.ordered
        var immediate: [DomainEvent] = []
        for event in events {
            let kind = event.kind
            if told.contains(kind) { continue }
            told.formUnion(kind.intersection([.outboxFilled, .webhooksFilled]))
            immediate.append(event)
        }
        return immediate
    }

    /// Writes the group's row, to be called last in its transaction; answers its serial.
    ///
    /// One that has nothing for others is written too, and rings nobody: the row alone proves that
    /// the group was committed, when the answer to that is lost.
    func write(_ events: [DomainEvent], _ session: SQLSession) throws(StoreError) -> Int64 {
        var text = JournalText()
        let withDeliveries = tellsDeliveries
        for event in events { text.add(event, withDeliveries: withDeliveries) }
        let serial = state.withLock { state in
            state.lastSerial += 1
            return state.lastSerial
        }
        session.connection.prove(by: SQL.isThere, [.text(instance), .int(serial)])
        try session.connection.queue(SQL.add) { parameters in
            parameters.bind(instance, at: 1)
            parameters.bind(serial, at: 2)
            parameters.bind(utf8: text.bytes, at: 3)
        }
        if !text.isEmpty { news.store(true, ordering: .releasing) }
        return serial
    }

    /// Keeps the records of a group that was committed for the reader.
    func keep(_ events: [DomainEvent], of serial: Int64) {
        guard keepsRecords else { return }
        let records = events.filter { Self.ordered.contains($0.kind) }
        state.withLock { state in
            if state.kept.isEmpty { state.oldestKept = serial }
            state.kept[serial] = Kept(events: records, committedAt: .now)
            state.keptCount += records.count
            while state.keptCount > Self.maximumKept, state.oldestKept < serial {
                state.keptCount -= state.kept.removeValue(forKey: state.oldestKept)?.events.count ?? 0
                state.oldestKept += 1
            }
        }
    }

    /// The records of one of this node's own rows, once; nil when they are no longer kept.
    func takeKept(_ serial: Int64) -> Kept? {
        state.withLock { state in
            let kept = state.kept.removeValue(forKey: serial)
            state.keptCount -= kept?.events.count ?? 0
            return kept
        }
    }
}
