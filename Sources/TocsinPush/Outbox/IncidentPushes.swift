import JSON
import TocsinCore

/// What pushes of incidents are held against beside the rights and wishes of people: whether
/// somebody has answered, and who has seen that there is anything to answer.
enum IncidentPushes {
    /// Notes up to where changes have overtaken the incidents of these messages, by whichever node.
    static func noteAnswers(
        to messages: some Sequence<Record>,
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) {
        let incidents = Set(messages.compactMap { $0["incidentId"].text })
        guard !incidents.isEmpty else { return }
        let now = context.time.now()
        for (incident, number) in try reader.answeredNumbers(of: incidents) where number > 0 {
            context.cancellations.add(answered: incident, upTo: number, now: now)
        }
    }

    /// The devices with those left out that had no push of the incident that a message is about.
    ///
    /// Only what asks for somebody goes to everybody; the rest replaces it on the screen.
    static func seen(
        _ devices: [Device],
        of message: Record,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Device] {
        guard let incident = message["incidentId"].text, !message.isLoud, !devices.isEmpty else { return devices }
        let number = message["number"].int ?? 0
        let reached = try reader.devicesReached(byIncident: incident, before: number, among: devices.map(\.id))
        return devices.map { device in
            guard !reached.contains(device.id) else { return device }
            var device = device
            device.wish = .leaveOut(.incidentUnseen)
            return device
        }
    }

    /// What providers have taken of incidents that have changed since they were opened.
    ///
    /// Two nodes may have pushes of one incident in hand at once. A device shows what its provider
    /// took last, so what was written down later than a newer one was started may be what it shows.
    struct Taken: Sendable {
        private struct Place: Hashable {
            var incident: String
            var device: DeviceID
        }

        private var numbers: [Place: [MessageNumber]] = [:]
        private let startedAt: Timestamp

        /// Runs inside a write, before the rows are written.
        ///
        /// Their incidents are held until it ends, so that of two writes one sees the other's rows.
        init(_ rows: [SettledEntry], _ batch: SendBatch, _ writer: any StoreWriter) throws(StoreError) {
            startedAt = batch.startedAt
            let lease = batch.context.settings.leaseSeconds
            for row in rows {
                guard case .payload(let payload)? = batch.messages[row.delivery.messageID],
                    let incident = payload.incidentID, Self.mayHaveReached(row.delivery, payload, lease)
                else { continue }
                numbers[Place(incident: incident, device: row.delivery.deviceID), default: []].append(payload.number)
            }
            guard !numbers.isEmpty else { return }
            // Most are the first of their incident, which nothing has followed.
            let answered = try writer.heldAnsweredNumbers(of: Set(numbers.keys.map(\.incident)))
            numbers = numbers.filter { answered[$0.key.incident, default: 0] > 0 }
        }

        /// Whether a device may have got it.
        ///
        /// What is not sent any more may have been: without an answer, or by a node that was killed
        /// before it wrote that down. After a lease others have it.
        private static func mayHaveReached(_ delivery: Delivery, _ payload: PushPayload, _ lease: Double) -> Bool {
            if delivery.status == .accepted { return true }
            return delivery.status == .ended && delivery.reason == .incidentAnswered
                && (delivery.attempts > 0 || delivery.updatedAt >= payload.committedAt.adding(seconds: lease))
        }

        /// Sends the newest push once more where an older one may have come after it.
        ///
        /// Runs inside the write, after the rows are written; answers whether there is any.
        func repeatNewest(now: Timestamp, _ writer: any StoreWriter) throws(StoreError) -> Bool {
            guard !numbers.isEmpty else { return false }
            let accepted = try writer.acceptedPushes(
                ofIncidents: Set(numbers.keys.map(\.incident)),
                to: Set(numbers.keys.map(\.device))
            )
            let places = Dictionary(grouping: accepted) {
                Place(incident: $0.incident, device: $0.delivery.deviceID)
            }
            var isAny = false
            for (place, ours) in numbers {
                let pushes = places[place, default: []]
                guard let newest = pushes.max(by: { $0.number < $1.number }) else { continue }
                let isOvertaken = ours.contains { $0 < newest.number }
                // Once: clocks of nodes differ.
                let mayBeHidden =
                    ours.contains(newest.number) && newest.delivery.redrivenAt == nil
                    && pushes.contains { $0.number < newest.number && $0.delivery.updatedAt >= startedAt }
                guard isOvertaken || mayBeHidden else { continue }
                try writer.sendAgain(newest.delivery, now: now)
                isAny = true
            }
            return isAny
        }
    }

    /// The priority that people's wishes are held against: that of the incident, however quiet a
    /// change of it is.
    static func priority(of message: Record) -> Int64 {
        let own = message["priority"].int ?? 3
        guard !message["incidentId"].isNull else { return own }
        switch message["data"] {
        case .text(let data), .json(let data):
            let text = (try? JSONParser.parse(data))?["incidentPriority"]?.stringValue
            return text.flatMap { Int64($0) } ?? own
        case .null, .bool, .int, .double: return own
        }
    }
}

extension Record {
    /// Whether the message asks for somebody.
    fileprivate var isLoud: Bool { self["incidentChange"].text.flatMap(IncidentChange.init)?.isLoud ?? false }
}
