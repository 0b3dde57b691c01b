/// How a monitor judges what comes and what does not.
package struct MonitorRules: Sendable, Equatable {
    /// How long after it is due a ping is still waited for.
    package var graceSeconds: Int64
    /// How long the work may take from start to end.
    package var maximumRunSeconds: Int64
    /// Fail pings in a row until it is down.
    package var failures: Int64
    /// Successes in a row until it is up again.
    package var successes: Int64

    /// The usual rules, but for what is given.
    ///
    /// - Parameter maximumRunSeconds: 0: as long as the grace.
    package init(
        graceSeconds: Int64 = 60,
        maximumRunSeconds: Int64 = 0,
        failures: Int64 = 1,
        successes: Int64 = 1
    ) {
        self.graceSeconds = graceSeconds
        self.maximumRunSeconds = maximumRunSeconds > 0 ? maximumRunSeconds : graceSeconds
        (self.failures, self.successes) = (failures, successes)
    }
}

/// When the pings of a monitor are to come.
package enum MonitorSchedule: Sendable, Hashable {
    /// So long after each other, at most.
    case period(seconds: Int64)
    /// At the times of a cron line, by the clocks of a zone.
    case cron(String, timeZone: String)

    /// The next time that a ping is due, counted from a moment; nil: there is none any more.
    package func next(after moment: Timestamp, zones: any ZoneSource) -> Timestamp? {
        switch self {
        case .period(let seconds): return moment.adding(seconds: Double(seconds))
        case .cron(let text, let name):
            guard let zone = zones.zone(named: name), let line = try? CronLine(text) else { return nil }
            return line.next(after: moment, in: zone)
        }
    }
}
