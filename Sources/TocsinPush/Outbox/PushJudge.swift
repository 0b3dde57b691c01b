import TocsinCore

/// The records that a message's pushes are judged by, as they were at a moment.
struct PushSubject: Sendable, Hashable {
    var message: Record
    var topic: Record
    var readAt: Timestamp

    /// After so long the records are read again before a page goes by them: rules and lists of
    /// owners change meanwhile.
    private static let freshSeconds = 1.0

    /// Whether it is too old to be judged by.
    func isStale(at now: Timestamp) -> Bool { readAt.adding(seconds: Self.freshSeconds) < now }
}

/// Marks the devices whose owners may not have a push any more, among the people of one read.
struct PushJudge {
    private let rights: PushRights
    private let zones: any ZoneSource
    private let standings: [UserID: PushRights.Standing]
    private let settings: [UserID: UserSettings]
    private let now: Timestamp
    /// Those judged already: most have several messages or devices.
    private var receivers: [UserID: PushRights.Receiver] = [:]

    /// When the quiet ends of those who were asked about; nil where it is not quiet.
    private var quietEnds: [UserID: Timestamp?] = [:]
    private let isWished: Bool
    /// What was granted of the page's topics to those whom the rules alone do not let read.
    private var roles = GrantedRoles()

    /// Reads what is known of the devices' owners, and what they want of pushes.
    init(
        of devices: some Sequence<Device>,
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) {
        let users = Set(devices.map(\.userID))
        isWished = devices.contains { $0.topicWish != nil }
        (rights, zones, now) = (context.rights, context.zones, context.time.now())
        standings = try reader.standings(of: users, tokensAt: rights.requiresSignIn ? now : nil)
        settings = try reader.userSettings(of: users)
    }

    /// Whether there is anybody who may be refused, or wants anything.
    var isNeeded: Bool { !standings.isEmpty || rights.requiresSignIn || !settings.isEmpty || isWished }

    /// Reads what was granted to those whom the rules alone do not let have their push; mostly that
    /// is nobody, and nothing is read.
    mutating func readGrants(
        of pushes: some Sequence<(device: Device, subject: PushSubject)>,
        _ reader: any StoreReader
    ) throws(StoreError) {
        guard !standings.isEmpty || rights.requiresSignIn else { return }
        var (subjects, topics): (Set<GrantSubject>, Set<TopicID>) = ([], [])
        for (device, subject) in pushes {
            let receiver = receiver(device.userID)
            guard case .person(let person) = receiver, !rights.mayReceive(receiver, subject.message, in: subject.topic)
            else { continue }
            subjects.formUnion(GrantSubject.of(person))
            topics.insert(TopicID(subject.topic.id))
        }
        if !topics.isEmpty { roles = try reader.roles(of: Array(subjects), in: Array(topics)) }
    }

    /// The device with whether its owner may have this push.
    mutating func judged(_ device: Device, _ subject: PushSubject) -> Device {
        var device = device
        if !standings.isEmpty || rights.requiresSignIn {
            device.mayReceive = rights.mayReceive(receiver(device.userID), subject.message, in: subject.topic, roles)
        }
        let priority = IncidentPushes.priority(of: subject.message)
        device.wish = device.topicWish?.wish(about: priority) ?? wish(of: device.userID, about: priority)
        return device
    }

    private mutating func wish(of user: UserID, about priority: Int64) -> PushWish? {
        guard let settings = settings[user] else { return nil }
        return settings.wish(about: priority, whileQuietUntil: quietEnd(settings))
    }

    private mutating func quietEnd(_ settings: UserSettings) -> Timestamp? {
        if let known = quietEnds[settings.userID] { return known }
        let end = settings.quietEnd(at: now, in: zones.zone(named: settings.timeZone) ?? .utc)
        quietEnds.updateValue(end, forKey: settings.userID)
        return end
    }

    private mutating func receiver(_ user: UserID) -> PushRights.Receiver {
        if let known = receivers[user] { return known }
        let receiver = rights.receiver(user, standings[user], now: now)
        receivers[user] = receiver
        return receiver
    }
}
