import TocsinCore

extension SendBatch {
    private static let behindTheNewestSeconds = 2.0

    /// Holds back what goes to devices that are to be left alone; when their time is over the newest message goes first.
    static func holdBack(
        _ entries: [OutboxEntry],
        _ messages: [MessageID: LoadedMessage],
        _ context: OutboxContext,
        _ now: Timestamp,
        _ fates: inout [EntryFate?]
    ) {
        let holds = context.breakers.backoff(of: entries.lazy.map(\.device.id))
        guard !holds.isEmpty else { return }
        var newest: [DeviceID: (index: Int, number: MessageNumber, committedAt: Timestamp)] = [:]
        for index in entries.indices where fates[index] == nil {
            let device = entries[index].device.id
            guard let hold = holds[device] else { continue }
            guard hold.until <= now else {
                fates[index] = .held(until: hold.until, reason: hold.reason)
                continue
            }
            guard case .payload(let payload)? = messages[entries[index].delivery.messageID] else { continue }
            let later = EntryFate.held(until: now.adding(seconds: behindTheNewestSeconds), reason: hold.reason)
            if let best = newest[device] {
                let isNewer = (payload.committedAt, payload.number) > (best.committedAt, best.number)
                fates[isNewer ? best.index : index] = later
                guard isNewer else { continue }
            }
            newest[device] = (index, payload.number, payload.committedAt)
        }
    }
}
