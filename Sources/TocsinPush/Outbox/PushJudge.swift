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
    private let memberships: [Tie: Membership]
    private let now: Timestamp
    /// Those judged already: most have several messages or devices.
    private var receivers: [UserID: PushRights.Receiver] = [:]

    /// Names a membership.
    private struct Tie: Hashable {
        let topic: TopicID
        let user: UserID
    }

    /// Reads what is known of the people, and what they want of pushes of these topics.
    init(
        of users: Set<UserID>,
        in topics: Set<TopicID>,
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) {
        (rights, zones, now) = (context.rights, context.zones, context.time.now())
        standings = try reader.standings(of: users, tokensAt: rights.requiresSignIn ? now : nil)
        let wishes = try reader.pushWishes(of: users, in: topics)
        settings = wishes.settings
        memberships = Dictionary(
            wishes.memberships.map { (Tie(topic: $0.topicID, user: $0.userID), $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Whether there is anybody who may be refused, or wants anything.
    var isNeeded: Bool {
        !standings.isEmpty || rights.requiresSignIn || !settings.isEmpty || !memberships.isEmpty
    }

    /// The device with whether its owner may have this push.
    mutating func judged(_ device: Device, _ subject: PushSubject) -> Device {
        var device = device
        if !standings.isEmpty || rights.requiresSignIn {
            device.mayReceive = rights.mayReceive(receiver(device.userID), subject.message, in: subject.topic)
        }
        device.wish = wish(of: device.userID, about: subject)
        return device
    }

    private func wish(of user: UserID, about subject: PushSubject) -> PushWish? {
        let priority = subject.message["priority"].int ?? 3
        if let membership = memberships[Tie(topic: TopicID(subject.topic.id), user: user)],
            let wish = membership.wish(about: priority)
        {
            return wish
        }
        guard let settings = settings[user] else { return nil }
        return settings.wish(about: priority, at: now, in: zones.zone(named: settings.timeZone) ?? .utc)
    }

    private mutating func receiver(_ user: UserID) -> PushRights.Receiver {
        if let known = receivers[user] { return known }
        let receiver = rights.receiver(user, standings[user], now: now)
        receivers[user] = receiver
        return receiver
    }
}
