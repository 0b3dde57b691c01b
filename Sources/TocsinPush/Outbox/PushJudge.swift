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
    private let standings: [UserID: PushRights.Standing]
    private let now: Timestamp
    /// Those judged already: most have several messages or devices.
    private var receivers: [UserID: PushRights.Receiver] = [:]

    /// Reads what is known of the people, all at once.
    init(
        of users: Set<UserID>,
        by rights: PushRights,
        _ reader: any StoreReader,
        now: Timestamp
    ) throws(StoreError) {
        self.rights = rights
        self.now = now
        standings = try reader.standings(of: users, tokensAt: rights.requiresSignIn ? now : nil)
    }

    /// Whether there is anybody who may be refused.
    var isNeeded: Bool { !standings.isEmpty || rights.requiresSignIn }

    /// The device with whether its owner may have this push.
    mutating func judged(_ device: Device, _ subject: PushSubject) -> Device {
        var device = device
        device.mayReceive = rights.mayReceive(receiver(device.userID), subject.message, in: subject.topic)
        return device
    }

    private mutating func receiver(_ user: UserID) -> PushRights.Receiver {
        if let known = receivers[user] { return known }
        let receiver = rights.receiver(user, standings[user], now: now)
        receivers[user] = receiver
        return receiver
    }
}
