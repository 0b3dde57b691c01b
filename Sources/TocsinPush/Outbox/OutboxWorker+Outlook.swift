package import TocsinCore

extension OutboxWorker: PushForecast {
    /// How a push to the device would fare now, by credentials and pauses.
    package func outlook(of device: Device) -> PushOutlook {
        guard let lane = context.providers.lane(of: device) else {
            return .unreachable(context.providers.obstacle(to: device))
        }
        let way = PushOutlook.Way(
            service: lane.service.rawValue,
            app: lane.appID.isEmpty ? lane.app : lane.appID,
            environment: lane.environment
        )
        let now = context.time.now()
        guard let pause = context.breakers.pause(of: lane, now: now) else { return .open(way) }
        return .paused(way, reason: pause.reason, until: pause.until)
    }

    /// Whether the device was last seen longer ago than the settings allow.
    package func isStale(_ device: Device, now: Timestamp) -> Bool {
        context.settings.staleSeconds.map { device.lastSeenAt.adding(seconds: $0) < now } ?? false
    }

    /// When a message of this age and `expiresAt` is given up.
    package func deadline(of message: Record) -> Timestamp {
        PushPayload(message: message, topic: nil).deadline(lifetimeSeconds: context.settings.retry.lifetimeSeconds)
    }
}
