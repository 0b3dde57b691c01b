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
        let reached = try reader.devicesReached(byIncident: incident, among: devices.map(\.id))
        return devices.map { device in
            guard !reached.contains(device.id) else { return device }
            var device = device
            device.wish = .leaveOut(.incidentUnseen)
            return device
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
