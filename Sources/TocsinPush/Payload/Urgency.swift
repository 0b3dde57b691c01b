/// What a message's priority means to each provider: the one table.
struct Urgency: Sendable {
    /// Apple's `interruption-level`; `critical` is asked for only where the app may.
    let interruptionLevel: String
    /// Apple's `apns-priority`: 10 at once, 5 as the device's power allows.
    let apnsPriority: Int
    /// Whether Android wakes the device.
    let wakesAndroid: Bool
    /// Android's `notification_priority`.
    let notificationPriority: String
    /// `Urgency` of RFC 8030.
    let web: String
    /// Whether it sounds unless the publisher says otherwise.
    let sounds: Bool

    private static let table = [
        Urgency("passive", 5, false, "PRIORITY_MIN", "very-low", sounds: false),
        Urgency("passive", 5, false, "PRIORITY_LOW", "low", sounds: false),
        Urgency("active", 10, true, "PRIORITY_DEFAULT", "high", sounds: true),
        Urgency("time-sensitive", 10, true, "PRIORITY_HIGH", "high", sounds: true),
        Urgency("critical", 10, true, "PRIORITY_MAX", "high", sounds: true),
    ]

    /// The row of a priority, 1 (least) to 5 (critical).
    static func of(_ priority: Int) -> Urgency { table[min(max(priority, 1), table.count) - 1] }

    private init(
        _ interruptionLevel: String,
        _ apnsPriority: Int,
        _ wakesAndroid: Bool,
        _ notificationPriority: String,
        _ web: String,
        sounds: Bool
    ) {
        self.interruptionLevel = interruptionLevel
        self.apnsPriority = apnsPriority
        self.wakesAndroid = wakesAndroid
        self.notificationPriority = notificationPriority
        self.web = web
        self.sounds = sounds
    }
}
