import TocsinCore

/// Devices whose provider asked to leave them alone for a while: their other pushes wait as well.
struct DeviceBackoff: Sendable {
    private static let maximumCount = 10_000
    private static let rememberedSeconds = 600.0
    private var holds: [DeviceID: Hold] = [:]

    /// Until when, and the provider's reason.
    struct Hold: Sendable, Hashable {
        var until: Timestamp
        var reason: DeliveryReason
    }

    var isEmpty: Bool { holds.isEmpty }

    /// Until when a device is, or lately was, to be left alone.
    subscript(_ device: DeviceID) -> Hold? { holds[device] }

    mutating func hold(_ device: DeviceID, _ hold: Hold, now: Timestamp) {
        if holds.count >= Self.maximumCount {
            holds = holds.filter { $0.value.until.adding(seconds: Self.rememberedSeconds) > now }
            guard holds.count < Self.maximumCount else { return }
        }
        if let held = holds[device], held.until > hold.until { return }
        holds[device] = hold
    }

    mutating func release(_ device: DeviceID) { holds[device] = nil }
}

extension SendBatch {
    private static let behindTheNewestSeconds = 2.0

    /// Holds back what goes to devices that are to be left alone; when their time is over the
    /// newest message goes first.
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
