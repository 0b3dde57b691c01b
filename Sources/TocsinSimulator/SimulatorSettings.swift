import Glibc

/// How the fake providers are set up.
package struct SimulatorSettings: Sendable {
    /// Where the CA, keys and certificate are kept: made if absent, used again if present.
    package var folder: String
    /// The loopback address to listen on.
    package var host = "127.0.0.1"
    /// Port of the fake APNs; 0 takes any free one.
    package var apnsPort = 0
    /// Port of the fake FCM and of the token endpoint; 0 takes any free one.
    package var fcmPort = 0
    /// Port of the fake push service of browsers; 0 takes any free one.
    package var webPushPort = 0
    /// Port of the control listener, plain HTTP/1.1; 0 takes any free one.
    package var controlPort = 0
    /// Apple team id that provider tokens must carry as `iss`.
    package var teamID = "SIMTEAM001"
    /// Apple key id that provider tokens must carry as `kid`.
    package var keyID = "SIMKEY0001"
    /// Bundle ids whose topics are known.
    package var bundleIDs = ["com.example.tocsin"]
    /// The Firebase project.
    package var projectID = "tocsin-simulator"
    /// Streams a connection may have at once; with APNs only after the first valid provider token.
    package var maximumStreams = 1000
    /// Whether pushes are checked and kept.
    ///
    /// Without, each is read to its end and answered 200, for benchmarks.
    package var recording = true
    /// Whether the providers speak TLS; without, HTTP/2 with prior knowledge.
    package var tls = true
    /// Whether the fake APNs is the development side, which alone answers `apns-unique-id`.
    package var development = true
    /// Keys that APNs knows beside `keyID`; all are signed with the one private key.
    package var otherKeys: [SimulatedKey] = []
    /// Least age of a provider token before a connection may bring another one.
    package var providerTokenUpdateSeconds = 1200
    /// Life of the access tokens given out.
    package var accessTokenSeconds = 3599
    /// FCM messages the project may send in a minute, a bucket that refills
    /// whole; `nil` is no limit.
    package var fcmMessagesPerMinute: Int?
    /// The same for one device.
    package var fcmDeviceMessagesPerMinute: Int?
    /// FCM messages one device may be sent in an hour; `nil` is no limit.
    package var fcmDeviceMessagesPerHour: Int?
    /// What is in force from the start, and again after a reset.
    package var script: SimulatorScript?
    /// How late the `slow` scripts answer.
    package var slowAnswerSeconds = 2.0
    /// How many pushes are kept; the oldest make room.
    package var maximumRecords = 50_000
    /// How many phones' screens are remembered.
    package var maximumPhones = 200_000
    /// Threads that serve connections.
    package var threads = 1
    /// Wall time in milliseconds since 1970.
    package var nowMilliseconds: @Sendable () -> Int64
    /// Called after each push, on a connection's thread.
    package var noticed: (@Sendable () -> Void)?

    /// Settings with the defaults above.
    package init(folder: String, nowMilliseconds: @escaping @Sendable () -> Int64 = WallClock.milliseconds) {
        self.folder = folder
        self.nowMilliseconds = nowMilliseconds
    }
}

/// A key of a team of Apple's, beside the usual one.
package struct SimulatedKey: Sendable, Hashable {
    /// The team's id: `iss`.
    package var teamID: String
    /// The key's id: `kid`.
    package var keyID: String
    /// The apps whose topics it may push to.
    package var bundleIDs: [String]
    /// Whether it is for the development side or for production; `nil` is both.
    package var development: Bool?

    /// A key for some apps of a team.
    package init(teamID: String, keyID: String, bundleIDs: [String], development: Bool? = nil) {
        self.teamID = teamID
        self.keyID = keyID
        self.bundleIDs = bundleIDs
        self.development = development
    }
}

/// The system's clock; rules take their time from `SimulatorSettings.nowMilliseconds`.
package enum WallClock {
    /// Milliseconds since 1970.
    @Sendable
    package static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
