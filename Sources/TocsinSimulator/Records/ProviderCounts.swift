import JSON

/// What one fake provider counted.
struct ProviderCounts: Sendable {
    var requests = 0
    var accepted = 0
    var refused: [String: Int] = [:]
    var connections = 0
    var connectionsOpen = 0
    var streamsPeak = 0
    /// Accepted more than once for one device with one collapse id or tag.
    var duplicatesByReplaceKey = 0
    /// Accepted more than once with one `apns-id` or `deliveryId`.
    var duplicatesByDelivery = 0
    /// Hashes of the keys: a million takes some 20 MB, and two keys are taken for one
    /// once in ten million runs.
    private var replaceKeys: Set<Int> = []
    private var deliveryKeys: Set<Int> = []

    /// Keys remembered to tell duplicates.
    private static let maximumKeys = 2_000_000

    mutating func count(_ record: PushRecord) {
        requests += 1
        guard record.isAccepted else {
            refused[record.reason ?? "unknown", default: 0] += 1
            return
        }
        accepted += 1
        if let key = record.replaceKey {
            var hasher = Hasher()
            hasher.combine(record.token)
            hasher.combine(key)
            if Self.isRepeated(hasher.finalize(), in: &replaceKeys) { duplicatesByReplaceKey += 1 }
        }
        if let key = record.deliveryKey, Self.isRepeated(key.hashValue, in: &deliveryKeys) {
            duplicatesByDelivery += 1
        }
    }

    private static func isRepeated(_ key: Int, in keys: inout Set<Int>) -> Bool {
        guard keys.count < maximumKeys else { return keys.contains(key) }
        return !keys.insert(key).inserted
    }

    var json: JSONObject {
        var reasons = JSONObject()
        for (reason, count) in refused.sorted(by: { $0.key < $1.key }) { reasons[reason] = .int(Int64(count)) }
        return [
            "requests": .int(Int64(requests)),
            "accepted": .int(Int64(accepted)),
            "refused": .object(reasons),
            "connections": .int(Int64(connections)),
            "connectionsOpen": .int(Int64(connectionsOpen)),
            "streamsPeak": .int(Int64(streamsPeak)),
            "duplicates": [
                "byReplaceKey": .int(Int64(duplicatesByReplaceKey)), "byDelivery": .int(Int64(duplicatesByDelivery)),
            ],
        ]
    }
}
