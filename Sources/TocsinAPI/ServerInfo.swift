import JSON

/// What clients may know of this server before they use it.
package enum ServerInfo {
    /// The release.
    package static let version = "0.1.0"
    /// What this server can do that an older one cannot, by names that never change their meaning.
    static let features = ["feedCursor", "replayedPing"]
    /// Over how long clients should come back after a stop.
    static let reconnectSpreadMilliseconds: Int64 = 5_000

    static var members: JSONObject {
        [
            "version": .string(version), "features": .array(features.map { .string($0) }),
            "reconnectSpreadMs": .int(reconnectSpreadMilliseconds),
        ]
    }
}
