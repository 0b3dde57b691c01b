/// How a push to a device would fare just now.
package enum PushOutlook: Sendable, Hashable {
    /// The credentials and the side that would be used.
    package struct Way: Sendable, Hashable {
        /// `apns`, `fcm`….
        package var service: String
        /// The bundle id, or the app's id in the settings; empty for the default app.
        package var app: String
        /// Apple's side; nil for all other services.
        package var environment: PushEnvironment?

        /// The way that a device's pushes go, named as operators know it.
        package init(service: String, app: String, environment: PushEnvironment?) {
            self.service = service
            self.app = app
            self.environment = environment
        }
    }

    case open(Way)
    /// The provider is paused for all pushes that go this way, and is tried again then.
    case paused(Way, reason: String, until: Timestamp)
    case unreachable(DeliveryReason)
}

/// What the running outbox of this node knows of pushes that are still to come.
package protocol PushForecast: Sendable {
    /// How a push to a device would fare now.
    func outlook(of device: Device) -> PushOutlook
    /// Whether the device has not been heard of for so long that it is skipped.
    func isStale(_ device: Device, now: Timestamp) -> Bool
    /// When a message is given up.
    func deadline(of message: Record) -> Timestamp
}
