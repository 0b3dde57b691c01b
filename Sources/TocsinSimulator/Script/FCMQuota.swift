/// FCM's message quotas: buckets that refill whole, each from its own first message on.
struct FCMQuota: Sendable {
    private struct Bucket: Sendable {
        var beganMilliseconds: Int64 = 0
        var used = 0

        /// Takes one message, or says how many seconds there are until the bucket is full again.
        mutating func take(_ limit: Int, _ lengthSeconds: Int64, now: Int64) -> Int? {
            if used == 0 || now >= beganMilliseconds + lengthSeconds * 1000 {
                beganMilliseconds = now
                used = 0
            }
            guard used < limit else {
                return Int(max(1, (beganMilliseconds + lengthSeconds * 1000 - now + 999) / 1000))
            }
            used += 1
            return nil
        }
    }

    private var project = Bucket()
    private var minutes: [String: Bucket] = [:]
    private var hours: [String: Bucket] = [:]

    /// Devices whose buckets are remembered; beyond, all begin anew.
    private static let maximumDevices = 500_000

    /// Takes one message of the project's quota.
    mutating func takeOfProject(_ limits: SimulatorLimits, now: Int64) -> FCMFailure? {
        guard let limit = limits.fcmMessagesPerMinute else { return nil }
        return project.take(limit, 60, now: now).map { .quotaExceeded(.project, .seconds($0)) }
    }

    /// Takes one message of a device's quotas.
    mutating func takeOfDevice(_ token: String, _ limits: SimulatorLimits, now: Int64) -> FCMFailure? {
        if let limit = limits.fcmDeviceMessagesPerMinute,
            let wait = Self.take(&minutes, token, limit, 60, now: now)
        {
            return .quotaExceeded(.device, .seconds(wait))
        }
        if let limit = limits.fcmDeviceMessagesPerHour, let wait = Self.take(&hours, token, limit, 3600, now: now) {
            return .quotaExceeded(.device, .seconds(wait))
        }
        return nil
    }

    private static func take(
        _ buckets: inout [String: Bucket],
        _ token: String,
        _ limit: Int,
        _ seconds: Int64,
        now: Int64
    ) -> Int? {
        if buckets.count >= maximumDevices, buckets[token] == nil { buckets.removeAll() }
        return buckets[token, default: Bucket()].take(limit, seconds, now: now)
    }
}
