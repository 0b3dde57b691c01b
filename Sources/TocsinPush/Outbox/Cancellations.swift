import Synchronization
import TocsinCore

/// What was claimed for a device or a user and must not be sent: the device was signed out,
/// the user has muted or left.
///
/// A device's id is never used again, so an entry may only be forgotten once nothing
/// claimed before it is under way. A user may want pushes again. So their entries hold only for
/// what was read before this node heard of the wish; later reads go by the database.
final class Cancellations: Sendable {
    private struct Audience: Hashable {
        var user: UserID
        /// nil for all topics.
        var topic: TopicID?
    }

    private struct Wish {
        var reason: DeliveryReason
        /// Its number among all wishes, from 1.
        var number: Int
    }

    private struct State {
        var devices = Recent<DeviceID, DeliveryReason>()
        var wishes = Recent<Audience, Wish>()
        var answers = Recent<String, MessageNumber>()
    }

    private let state = Mutex(State())
    /// Spares the lock where nobody signs out.
    private let hasDevices = Atomic(false)
    private let wishCount = Atomic(0)
    private let hasAnswers = Atomic(false)

    func add(_ device: DeviceID, _ reason: DeliveryReason, now: Timestamp) {
        state.withLock { $0.devices.set(device, reason, now: now) }
        hasDevices.store(true, ordering: .releasing)
    }

    /// Notes what a user wants no more, of a topic or of all.
    func add(_ user: UserID, _ topic: TopicID?, _ reason: DeliveryReason, now: Timestamp) {
        state.withLock { state in
            let number = wishCount.load(ordering: .relaxed) + 1
            state.wishes.set(Audience(user: user, topic: topic), Wish(reason: reason, number: number), now: now)
            wishCount.store(number, ordering: .releasing)
        }
    }

    /// Notes that the pushes of an incident's messages before this number are overtaken: nobody is
    /// asked any more, or what they say is over.
    func add(answered incident: String, upTo number: MessageNumber, now: Timestamp) {
        state.withLock { state in
            let latest = max(number, state.answers[incident] ?? number)
            state.answers.set(incident, latest, now: now)
        }
        hasAnswers.store(true, ordering: .releasing)
    }

    /// Whether somebody has answered what a message asks, or a later change takes its place.
    private func isAnswered(_ payload: PushPayload) -> Bool {
        guard hasAnswers.load(ordering: .acquiring), let incident = payload.incidentID else { return false }
        return state.withLock { $0.answers[incident] }.map { payload.number < $0 } ?? false
    }

    /// How many wishes were heard of; to be asked before devices are read.
    var heardWishes: Int { wishCount.load(ordering: .acquiring) }

    /// Why nothing is to be sent to a device any more; nil for all others.
    subscript(_ device: DeviceID) -> DeliveryReason? {
        guard hasDevices.load(ordering: .acquiring) else { return nil }
        return state.withLock { $0.devices[device] }
    }

    /// Why an entry is not to be sent any more; nil for all others.
    func reason(against entry: OutboxEntry, of payload: PushPayload) -> DeliveryReason? {
        if let reason = self[entry.device.id] { return reason }
        if isAnswered(payload) { return .incidentAnswered }
        let topic = payload.topicID
        guard entry.heardWishes < heardWishes else { return nil }
        return state.withLock { state in
            for audience in [nil, topic].map({ Audience(user: entry.device.userID, topic: $0) }) {
                if let wish = state.wishes[audience], wish.number > entry.heardWishes { return wish.reason }
            }
            return nil
        }
    }
}

extension DeliveryReason {
    /// Whether the user wants less: the device could be reached, so a delivery is skipped and has
    /// not ended.
    var isWish: Bool { self == .notificationsOff || self == .topicMuted }
}

/// Entries of the last while.
private struct Recent<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// An entry is kept this long at least; pushes are held by nobody for so long.
    private static var keptSeconds: Double { 600 }
    /// Beyond it the older half is forgotten early.
    private static var maximumCount: Int { 50_000 }
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private var turnsAt: Timestamp?

    mutating func set(_ key: Key, _ value: Value, now: Timestamp) {
        if turnsAt.map({ now >= $0 }) ?? true || young.count >= Self.maximumCount {
            (old, young) = (young, [:])
            turnsAt = now.adding(seconds: Self.keptSeconds)
        }
        young[key] = value
    }

    subscript(_ key: Key) -> Value? { young[key] ?? old[key] }
}
