import JSON

/// What one phone shows, and what its provider keeps for it while it is away.
struct Phone: Sendable {
    struct Notification: Sendable {
        var key: String?
        var title: String
        var body: String
        var timeMilliseconds: Int64
        /// Pushes that stand behind it: 1, and one more for each that took its place.
        var pushes = 1
    }

    private(set) var isOnline = true
    private(set) var shown: [Notification] = []
    /// How often something appeared, replacing or not.
    private(set) var alerts = 0
    /// How often it took the place of what was there.
    private(set) var replaced = 0
    /// Pushes for the app alone.
    private(set) var quiet = 0
    /// How often Android told the app that messages were dropped.
    private(set) var deletedMessages = 0
    private(set) var badge: Int?
    private var kept: [Arrival] = []
    private var throttle = CollapseThrottle()

    private static let keptMessages = 100
    private static let keptKeys = 4

    /// Takes what the provider has accepted.
    mutating func receive(_ arrival: Arrival, now: Int64) {
        guard isOnline else { return keep(arrival, now: now) }
        settle(now: now)
        guard let key = arrival.throttleKey else { return show(arrival, now: now) }
        if throttle.passes(arrival, key, now: now) { show(arrival, now: now) }
    }

    /// Goes away, or comes back and gets what was kept.
    mutating func setOnline(_ online: Bool, now: Int64) {
        isOnline = online
        guard online else { return }
        for arrival in kept where arrival.endsMilliseconds.map({ now < $0 }) ?? true { show(arrival, now: now) }
        kept = []
        settle(now: now)
    }

    /// Shows what was held back and is due.
    mutating func settle(now: Int64) {
        guard isOnline else { return }
        for (arrival, time) in throttle.due(now: now) { show(arrival, now: time) }
    }

    /// Drops the oldest notification; the phones of a simulator share their memory.
    mutating func dropOldest() {
        if !shown.isEmpty { shown.removeFirst() }
    }

    private mutating func show(_ arrival: Arrival, now: Int64) {
        if let badge = arrival.badge { self.badge = badge }
        guard arrival.isShown else {
            quiet += 1
            return
        }
        alerts += 1
        let new = Notification(
            key: arrival.replaceKey,
            title: arrival.title,
            body: arrival.body,
            timeMilliseconds: now
        )
        guard let key = arrival.replaceKey, let index = shown.lastIndex(where: { $0.key == key }) else {
            return shown.append(new)
        }
        replaced += 1
        let pushes = shown[index].pushes + 1
        shown.remove(at: index)
        shown.append(new)
        shown[shown.count - 1].pushes = pushes
    }

    private mutating func keep(_ arrival: Arrival, now: Int64) {
        if let end = arrival.endsMilliseconds, end <= now { return }
        switch arrival.keeping {
        case .newestOfApp:
            kept.removeAll { $0.app == arrival.app }
        case .newestOfKey:
            kept.removeAll { $0.keeping == arrival.keeping }
            let keys = kept.filter { $0.keeping != .each }
            if keys.count >= Self.keptKeys, let oldest = kept.firstIndex(where: { $0.keeping != .each }) {
                kept.remove(at: oldest)
            }
        case .each:
            if kept.count(where: { $0.keeping == .each }) >= Self.keptMessages {
                kept.removeAll { $0.keeping == .each }
                deletedMessages += 1
                return
            }
        }
        kept.append(arrival)
    }

    var json: JSONObject {
        [
            "online": .bool(isOnline),
            "shown": .array(
                shown.map { notification in
                    [
                        "key": notification.key.map(JSONValue.string) ?? .null, "title": .string(notification.title),
                        "body": .string(notification.body), "time": .int(notification.timeMilliseconds),
                        "pushes": .int(Int64(notification.pushes)),
                    ]
                }
            ),
            "alerts": .int(Int64(alerts)), "replaced": .int(Int64(replaced)), "quiet": .int(Int64(quiet)),
            "badge": badge.map { .int(Int64($0)) } ?? .null, "kept": .int(Int64(kept.count)),
            "heldBack": .int(Int64(throttle.count)), "deletedMessages": .int(Int64(deletedMessages)),
        ]
    }
}

/// FCM's rate limit for collapsible messages of one phone: a burst of 20, then one every three
/// minutes.
struct CollapseThrottle: Sendable {
    private var free = Self.burst
    private var countedAt: Int64 = 0
    private var waiting: [(arrival: Arrival, key: String)] = []

    private static let burst = 20.0
    private static let intervalMilliseconds: Int64 = 180_000
    private static let maximumWaiting = 4

    /// Messages held back.
    var count: Int { waiting.count }

    /// Whether the message may come now; if not it is held back, the newest of each key.
    mutating func passes(_ arrival: Arrival, _ key: String, now: Int64) -> Bool {
        refill(now: now)
        if waiting.isEmpty, free >= 1 {
            free -= 1
            return true
        }
        waiting.removeAll { $0.key == key }
        waiting.append((arrival, key))
        if waiting.count > Self.maximumWaiting { waiting.removeFirst() }
        return false
    }

    /// What was held back and may come by now, each with when it came.
    mutating func due(now: Int64) -> [(arrival: Arrival, timeMilliseconds: Int64)] {
        guard !waiting.isEmpty else { return [] }
        refill(now: now)
        var due: [(arrival: Arrival, timeMilliseconds: Int64)] = []
        while free >= 1, !waiting.isEmpty {
            free -= 1
            due.append((waiting.removeFirst().arrival, now))
        }
        return due
    }

    private mutating func refill(now: Int64) {
        let passed = now - countedAt
        if countedAt > 0, passed > 0 {
            free = min(Self.burst, free + Double(passed) / Double(Self.intervalMilliseconds))
        }
        countedAt = now
    }
}
