import TocsinCore

/// Halves the pushes of one project for a minute whenever its provider says that a quota is used up.
struct RateLimiter: Sendable, Hashable {
    private static let slowSeconds = 60.0
    /// Refusals of pushes that left before the rate was lowered say nothing new.
    private static let deafSeconds = 5.0
    private static let windowSeconds = 10.0
    private static let leastPerSecond = 1.0

    private var windowStart: Timestamp?
    private var inWindow = 0
    private var inLastWindow = 0
    /// Pushes a second while slowed.
    private(set) var perSecond = 0.0
    private var slowedAt: Timestamp?
    private var tokens = 0.0
    private var filledAt: Timestamp?

    /// Whether it holds anything back.
    func isSlow(_ now: Timestamp) -> Bool {
        slowedAt.map { now < $0.adding(seconds: Self.slowSeconds) } ?? false
    }

    /// How many of so many pushes may go now.
    mutating func admit(_ wanted: Int, now: Timestamp) -> Int {
        guard isSlow(now) else {
            count(wanted, now)
            return wanted
        }
        let elapsed = filledAt.map { Double(now.milliseconds - $0.milliseconds) / 1000 } ?? 1
        tokens = min(max(1, perSecond), tokens + max(0, elapsed) * perSecond)
        filledAt = now
        let admitted = min(wanted, Int(tokens))
        tokens -= Double(admitted)
        count(admitted, now)
        return admitted
    }

    /// When the push that is `position` pushes behind the last one admitted may try again.
    func turn(of position: Int, now: Timestamp) -> Timestamp {
        let seconds = Double(position + 1) / max(Self.leastPerSecond, perSecond)
        return now.adding(seconds: min(max(0.2, seconds), Self.slowSeconds))
    }

    /// The quota is used up; answers the new rate if there is one.
    mutating func slow(_ now: Timestamp) -> Double? {
        if let slowedAt, now < slowedAt.adding(seconds: Self.deafSeconds) { return nil }
        let rate = isSlow(now) ? perSecond : measured(now)
        perSecond = max(Self.leastPerSecond, rate / 2)
        slowedAt = now
        (tokens, filledAt) = (0, now)
        return perSecond
    }

    private mutating func count(_ pushes: Int, _ now: Timestamp) {
        let age = windowStart.map { Double(now.milliseconds - $0.milliseconds) / 1000 } ?? .infinity
        if age >= Self.windowSeconds {
            inLastWindow = age < 2 * Self.windowSeconds ? inWindow : 0
            inWindow = 0
            windowStart = now
        }
        inWindow += pushes
    }

    /// Pushes a second, lately.
    private func measured(_ now: Timestamp) -> Double {
        Double(max(inWindow, inLastWindow)) / Self.windowSeconds
    }
}

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
