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
        node: String?,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Device] {
        guard let incident = message["incidentId"].text, !message.isLoud, !devices.isEmpty else { return devices }
        let number = message["number"].int ?? 0
        let reached = try reader.devicesReached(
            byIncident: incident,
            before: number,
            among: devices.map(\.id),
            node: node ?? ""
        )
        return devices.map { device in
            guard !reached.contains(device.id) else { return device }
            var device = device
            device.wish = .leaveOut(.incidentUnseen)
            return device
        }
    }

    /// Sends the newest push of an incident once more where an older one may have come after it.
    ///
    /// Two nodes may have pushes of one incident in hand at once. A device shows what its provider
    /// took last, so what was written down later than a newer one was started may be what it shows.
    /// It is looked for after the rows are written, so that of two nodes the later one sees both.
    static func repeatNewest(after rows: [SettledEntry], of batch: SendBatch) async {
        var reached = Reached(startedAt: batch.startedAt)
        for row in rows {
            guard case .payload(let payload)? = batch.messages[row.delivery.messageID],
                let incident = payload.incidentID
            else { continue }
            // What is not sent any more may have been, where no answer came.
            let delivery = row.delivery
            let isLost = delivery.status == .ended && delivery.reason == .incidentAnswered && delivery.attempts > 0
            if delivery.status == .accepted || isLost {
                reached.add(payload.number, .init(incident: incident, device: delivery.deviceID))
            }
        }
        guard !reached.numbers.isEmpty else { return }
        let (context, found) = (batch.context, reached)
        let until = context.time.now().adding(seconds: context.settings.leaseSeconds)
        let hidden = await context.reading(until: until) { reader throws(StoreError) in try found.hidden(reader) }
        guard let hidden, !hidden.isEmpty else { return }
        let now = context.time.now()
        _ = await context.writing(until: until) { writer throws(StoreError) in
            for delivery in hidden { try writer.sendAgain(delivery, now: now) }
        }
        context.noteDue(now)
    }

    /// What devices may have got of incidents, by the numbers of its messages.
    private struct Reached: Sendable {
        struct Place: Hashable {
            var incident: String
            var device: DeviceID
        }

        private(set) var numbers: [Place: [MessageNumber]] = [:]
        let startedAt: Timestamp

        init(startedAt: Timestamp) { self.startedAt = startedAt }

        mutating func add(_ number: MessageNumber, _ place: Place) { numbers[place, default: []].append(number) }

        /// Newest pushes that an older one may have hidden.
        func hidden(_ reader: any StoreReader) throws(StoreError) -> [Delivery] {
            // Nobody has answered most of them, and nothing rang again.
            let answered = try reader.answeredNumbers(of: Set(numbers.keys.map(\.incident))).filter { $0.value > 0 }
            let places = numbers.filter { answered[$0.key.incident] != nil }
            guard let first = places.values.joined().min() else { return [] }
            let pushes = try reader.livePushes(
                ofIncidents: Set(places.keys.map(\.incident)),
                to: Set(places.keys.map(\.device)),
                after: first,
                orSince: startedAt
            )
            let known = Dictionary(grouping: pushes) { Place(incident: $0.incident, device: $0.delivery.deviceID) }
            return places.compactMap { place, ours in
                let others = known[place, default: []]
                // One that is still to be sent comes last by itself.
                guard let newest = others.max(by: { $0.number < $1.number }), newest.delivery.status == .accepted
                else { return nil }
                let isOvertaken = ours.contains { $0 < newest.number }
                // Once: clocks of nodes differ.
                let mayBeHidden =
                    ours.contains(newest.number) && newest.delivery.redrivenAt == nil
                    && others.contains {
                        $0.number < newest.number && $0.delivery.status == .accepted
                            && $0.delivery.updatedAt >= startedAt
                    }
                return isOvertaken || mayBeHidden ? newest.delivery : nil
            }
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
