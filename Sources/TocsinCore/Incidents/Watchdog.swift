/// Alerts that are to come again and again, and are pings of a monitor: never incidents.
package struct Watchdog: Sendable, Equatable {
    /// What its labels must be.
    package var labels: [String: String]
    /// The monitor that it pings.
    package var monitorID: String

    /// A watchdog of alerts with these labels.
    package init(labels: [String: String], monitorID: String) {
        (self.labels, self.monitorID) = (labels, monitorID)
    }

    /// Whether an alert with these labels is one.
    package func matches(_ labels: [String: String]) -> Bool { self.labels.allSatisfy { labels[$0.key] == $0.value } }
}

/// Takes the alerts that are pings out of what senders say, and the rest as usual.
package struct WatchdogIntake: EventIntake {
    private let intake: any EventIntake
    private let monitors: MonitorService

    /// Takes what is left by `intake`.
    package init(_ intake: any EventIntake, monitors: MonitorService) {
        (self.intake, self.monitors) = (intake, monitors)
    }

    /// Pings the monitors of watchdogs first; a monitor of another owner counts for nothing.
    package func take(
        _ events: [SenderEvent],
        from integration: Integration
    ) async throws(ServiceError) -> [EventOutcome] {
        guard !integration.watchdogs.isEmpty else { return try await intake.take(events, from: integration) }
        var (outcomes, left) = (events.map { EventOutcome(key: $0.key) }, [(index: Int, event: SenderEvent)]())
        var judged: [String: Bool] = [:]
        for (index, event) in events.enumerated() {
            if let rest = try await rest(of: event, integration, &judged) { left.append((index, rest)) }
        }
        guard !left.isEmpty else { return outcomes }
        let taken = try await intake.take(left.map(\.event), from: integration)
        for (place, outcome) in zip(left, taken) { outcomes[place.index] = outcome }
        return outcomes
    }

    /// The event without its pings; nil where nothing is left of it.
    ///
    /// - Parameter judged: Whether monitors that have been pinged by this request are there.
    private func rest(
        of event: SenderEvent,
        _ integration: Integration,
        _ judged: inout [String: Bool]
    ) async throws(ServiceError) -> SenderEvent? {
        guard !event.alerts.isEmpty else {
            let isFiring = event.action == .trigger
            return try await isPing(event.labels, isFiring, integration, &judged) ? nil : event
        }
        var rest = event
        rest.alerts = []
        for alert in event.alerts {
            let isPing = try await isPing(alert.labels, alert.isFiring, integration, &judged)
            if !isPing { rest.alerts.append(alert) }
        }
        return rest.alerts.isEmpty ? nil : rest
    }

    private func isPing(
        _ labels: [String: String],
        _ isFiring: Bool,
        _ integration: Integration,
        _ judged: inout [String: Bool]
    ) async throws(ServiceError) -> Bool {
        guard let watchdog = integration.watchdogs.first(where: { $0.matches(labels) }) else { return false }
        if let known = judged[watchdog.monitorID] { return known }
        // One that ends says nothing, and is no incident either.
        let ping = MonitorPing(isFiring ? .success : .log, text: labels["alertname"] ?? "")
        let isThere = try await monitors.take(ping, on: watchdog.monitorID, ofOwner: integration.owner)
        judged[watchdog.monitorID] = isThere
        return isThere
    }
}
