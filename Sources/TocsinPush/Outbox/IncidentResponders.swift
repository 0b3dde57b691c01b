import TocsinCore

/// Whom a raised priority rings for: an incident that somebody has acknowledged is theirs, so the
/// other members are shown it quietly.
struct IncidentResponders {
    private let context: OutboxContext
    private let reader: any StoreReader
    /// What was found for a message; no value: not asked yet, nil: it rings for all.
    private var found: [String: Set<UserID>?] = [:]

    init(_ context: OutboxContext, _ reader: any StoreReader) { (self.context, self.reader) = (context, reader) }

    /// The device with whether this push is to be shown there without ringing.
    mutating func marked(_ device: Device, _ subject: PushSubject) throws(StoreError) -> Device {
        guard subject.message.isRaise, let alone = try ringing(subject) else { return device }
        var device = device
        device.isHushed = !alone.contains(device.userID)
        return device
    }

    /// The users whom a raised priority rings for alone; nil: it rings for all, as nobody has
    /// answered, or no phone of theirs can be reached.
    private mutating func ringing(_ subject: PushSubject) throws(StoreError) -> Set<UserID>? {
        if let known = found[subject.message.id] { return known }
        let users = try responders(subject)
        found.updateValue(users, forKey: subject.message.id)
        return users
    }

    private func responders(_ subject: PushSubject) throws(StoreError) -> Set<UserID>? {
        guard let incident = subject.message["incidentId"].text,
            let users = try reader.incidentFacts(incident)?.responders, !users.isEmpty
        else { return nil }
        var devices = try reader.devices(of: users, hearing: TopicID(subject.topic.id))
        guard !devices.isEmpty else { return nil }
        var judge = try PushJudge(of: devices, context, reader)
        if judge.isNeeded {
            try judge.readGrants(of: devices.map { (device: $0, subject: subject) }, reader)
            devices = devices.map { judge.judged($0, subject) }
        }
        let now = context.time.now()
        var lanes = LaneNames(context)
        let isReachable = devices.contains { device in
            device.mayReceive && !device.isSignedOut(at: now) && device.wish == nil
                && SendBatch.wish(against: device, context, now) == nil && lanes.lane(of: device) != nil
        }
        return isReachable ? Set(users) : nil
    }
}

extension Record {
    /// Whether the message tells of a priority that was raised.
    fileprivate var isRaise: Bool { self["incidentChange"].text == IncidentChange.raised.rawValue }
}
