/// What somebody learns of a message's pushes who may read the message but not create it.
///
/// They learn what became of their own pushes, as if there were no others. Who else gets a message,
/// and on how many devices, is between those people and the message's owner.
extension DeliveryService {
    /// The messages of which the caller learns what became of every push, under any
    /// scope: those they may create.
    package func creatable(by caller: Identity) -> Predicate? {
        var owner = caller
        // Looking takes no more than reading, which a narrower token may.
        owner.scope = .full
        guard
            case .allow(let permitted) = AccessPolicy.decision(.create, on: messages, for: owner, granting: .owner)
        else { return nil }
        return permitted
    }

    /// What somebody learns of a message's pushes.
    package enum Insight: Sendable, Hashable {
        /// Everything.
        case all
        /// The counts alone: of what they published in somebody else's topic.
        case counts
        /// What became of pushes to their own devices.
        case own
    }

    /// What the caller learns of the pushes of these messages; grants are asked where they do not
    /// learn everything anyway.
    package func insights(
        of records: [Record],
        caller: Identity
    ) async throws(ServiceError) -> [MessageID: Insight] {
        let creatable = creatable(by: caller)
        var insights: [MessageID: Insight] = [:]
        for record in records { insights[MessageID(record.id)] = creatable?.matches(record) == true ? .all : .own }
        guard let creatable, let question = creatable.grantQuestions.first else { return insights }
        let others = records.filter { insights[MessageID($0.id)] == .own }
        let topics = Set(others.compactMap(question.topic))
        guard !topics.isEmpty else { return insights }
        let roles = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.roles(of: question.subjects, in: Array(topics))
        }
        for record in others {
            if creatable.matches(record, roles) {
                insights[MessageID(record.id)] = .all
            } else if record.author == caller.userID {
                insights[MessageID(record.id)] = .counts
            }
        }
        return insights
    }

    /// What somebody may hear of the deliveries of a message while it lasts.
    package struct Hearing: Sendable {
        /// The message.
        package var message: Record
        /// Of which messages the caller hears so.
        package var permitted: Predicate
        /// Whether they hear of their own devices alone.
        package var isOwnOnly: Bool
    }

    /// What the caller may hear of the deliveries of a message: everything where they may create
    /// it, what becomes of pushes to their own devices where they may read it.
    ///
    /// Throws `unauthorized` for a message that is absent or not to be read.
    package func hearing(of message: MessageID, caller: Identity) async throws(ServiceError) -> Hearing {
        guard let all = inspectable(by: caller) else { throw .unauthorized }
        let ways = [(all, false)] + (readable(by: caller).map { [($0, true)] } ?? [])
        let messages = messages
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            for (permitted, isOwnOnly) in ways {
                guard let record = try reader.records(messages, ids: [message.text], where: permitted).first else {
                    continue
                }
                return Hearing?.some(Hearing(message: record, permitted: permitted, isOwnOnly: isOwnOnly))
            }
            return nil
        }
        guard let found else { throw .unauthorized }
        return found
    }

    /// Deliveries of one message to the caller's own devices, by device id.
    package func ownDeliveries(
        of message: MessageID,
        status: DeliveryStatus?,
        after: DeviceID?,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> (entries: [Entry], hasMore: Bool) {
        try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            let devices = try reader.devices(of: caller.userID)
            let entries = try Self.rows(of: message, to: devices, caller, reader)
                .filter { (status == nil || $0.status == status) && $0.deviceID.text > after?.text ?? "" }
                .sorted { $0.deviceID.text < $1.deviceID.text }
                .map { row in Entry(delivery: row, device: devices.first { $0.id == row.deviceID }) }
            return (Array(entries.prefix(limit)), entries.count > limit)
        }
    }

    /// Counts by state of the deliveries to the caller's own devices.
    package func ownSummaries(
        of messages: [MessageID],
        caller: Identity
    ) async throws(ServiceError) -> [MessageID: DeliverySummary] {
        guard !messages.isEmpty else { return [:] }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            let devices = try reader.devices(of: caller.userID)
            var summaries: [MessageID: DeliverySummary] = [:]
            for message in messages {
                let isFanningOut = try reader.isFanningOut(message)
                if isFanningOut { summaries[message, default: DeliverySummary()].isFanningOut = true }
                for row in try Self.rows(of: message, to: devices, caller, reader) {
                    summaries[message, default: DeliverySummary()].counts[row.status, default: 0] += 1
                }
            }
            return summaries
        }
    }

    private static func rows(
        of message: MessageID,
        to devices: [Device],
        _ caller: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Delivery] {
        try reader.deliveries(of: message, to: devices.map(\.id) + [.missing(of: caller.userID)])
    }
}
