import TocsinCore

/// From rows of the journal to events: records are read for those who
/// listen, all of a page at once.
extension JournalReader {
    /// Events that are told together; one group may have more.
    private static let mostEvents = 1024

    func publish(_ rows: [JournalRow], _ session: SQLSession, _ cursor: inout JournalCursor) throws(StoreError) {
        let new = rows.filter { !cursor.published.contains($0.id) }
        guard !new.isEmpty else { return }
        let isHeard = listeners.isAnybodyHere()
        let sources = new.map { source(of: $0, isHeard) }
        let records = try records(of: sources, SQLReader(session: session))
        // Several groups at once: whoever is woken by them finds them all.
        var (events, origins): ([DomainEvent], [CommitOrigin]) = ([], [])
        var told: [Int64] = []
        for (row, source) in zip(new, sources) {
            var origin = CommitOrigin(isHere: row.node == journal.instance, at: nil)
            switch source {
            case .own(let kept):
                events += kept.events
                origin.at = kept.committedAt
            case .passed: break
            case .read(let entries):
                for entry in entries { try events += self.events(of: entry, records, session) }
            }
            origins += repeatElement(origin, count: events.count - origins.count)
            told.append(row.id)
            guard events.count >= Self.mostEvents || row.id == new.last?.id else { continue }
            if !events.isEmpty { listeners.publish(events, .each(origins)) }
            cursor.published.formUnion(told)
            (events, origins, told) = ([], [], [])
        }
    }

    /// What a row says to those who listen here: nothing if it is this node's own and nobody does.
    private func source(of row: JournalRow, _ isHeard: Bool) -> Source {
        guard row.node == journal.instance else { return .read(JournalText.entries(of: row.body).filter(isWanted)) }
        let kept = journal.takeKept(row.serial)
        guard isHeard else { return .passed }
        // The rest of its own this node was told at once.
        return kept.map(Source.own)
            ?? .read(JournalText.entries(of: row.body).filter { $0.isInOrder && isWanted($0) })
    }

    /// A group's events, or what is to be made of its row.
    private enum Source {
        case own(Journal.Kept)
        /// This node's own, which nobody here wants.
        case passed
        case read([JournalEntry])
    }

    private struct RecordKey: Hashable {
        var model: String
        var id: String
    }

    private func isWanted(_ entry: JournalEntry) -> Bool {
        switch entry {
        case .records(_, let model, let owner, _), .values(_, let model, let owner, _):
            models[model] != nil && listeners.wants(model, owner)
        case .outboxFilled, .webhooksFilled, .deviceEnded, .pushesUnwanted, .incidentAnswered, .accessEnded,
            .grantsChanged, .rightsChanged, .deliveries:
            true
        case .readMarksChanged: true
        }
    }

    /// The records that entries name, by one statement for each model and some hundred of them.
    private func records(
        of sources: [Source],
        _ reader: SQLReader
    ) throws(StoreError) -> [RecordKey: Record] {
        var ids: [String: [String]] = [:]
        for case .read(let entries) in sources {
            for case .records(_, let model, _, let named) in entries { ids[model, default: []] += named }
        }
        var records: [RecordKey: Record] = [:]
        for (name, ids) in ids {
            guard let model = models[name] else { continue }
            for record in try reader.records(model, ids: ids, where: .always) {
                records[RecordKey(model: name, id: record.id)] = record
            }
        }
        return records
    }

    private func events(
        of entry: JournalEntry,
        _ records: [RecordKey: Record],
        _ session: SQLSession
    ) throws(StoreError) -> [DomainEvent] {
        switch entry {
        case .records(let change, let model, _, let ids):
            // One that is gone was removed with its topic or by age: its number is missing
            // in what clients see, too.
            return ids.compactMap { records[RecordKey(model: model, id: $0)] }.map { change.event(of: $0) }
        case .values(let change, let name, _, let fields):
            guard let model = models[name] else { return [] }
            var record = Record(model: model)
            for (field, value) in fields { record[field] = value }
            return [change.event(of: record)]
        case .outboxFilled: return [.outboxFilled]
        case .webhooksFilled: return [.webhooksFilled]
        case .deviceEnded(let device, let reason): return [.deviceEnded(device, reason: reason)]
        case .pushesUnwanted(let user, let topic, let reason): return [.pushesUnwanted(user, topic, reason)]
        case .incidentAnswered(let incident, let number): return [.incidentAnswered(incident, number)]
        case .accessEnded(let user, let token): return [.accessEnded(user, token)]
        case .grantsChanged(let change): return [.grantsChanged(change)]
        case .rightsChanged(let user, let moment): return [.rightsChanged(user, at: moment)]
        case .readMarksChanged(let user): return [.readMarksChanged(user)]
        case .deliveries(let message, let devices):
            return try SQLReader(session: session).deliveries(of: message, to: devices).map { .deliveryChanged($0) }
        }
    }
}

extension JournalEntry.Change {
    fileprivate func event(of record: Record) -> DomainEvent {
        switch self {
        case .created: .created(record)
        case .updated: .updated(record)
        case .deleted: .deleted(record)
        }
    }
}
