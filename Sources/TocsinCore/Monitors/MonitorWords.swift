/// What people read of a monitor.
package enum MonitorWords {
    /// Why a monitor is down, in one line.
    package static func title(
        _ name: String,
        _ reason: MonitorNews.Reason,
        _ schedule: MonitorSchedule,
        at now: Timestamp
    ) -> String {
        switch reason {
        case .silence(let since?):
            "\(name) has not reported for \(duration(since, now)) (expected \(expectation(schedule)))"
        case .silence(nil): "\(name) has not reported (expected \(expectation(schedule)))"
        case .endless(let since): "\(name) has been running for \(duration(since, now))"
        case .failure(let status?, _): "\(name) failed with status \(status)"
        case .failure(nil, _): "\(name) failed"
        }
    }

    private static func expectation(_ schedule: MonitorSchedule) -> String {
        switch schedule {
        case .period(let seconds): "every \(text(ofSeconds: seconds))"
        case .cron(let line, let zone): "at \(line), \(zone)"
        }
    }

    private static func duration(_ start: Timestamp, _ end: Timestamp) -> String {
        text(ofSeconds: max(0, end.milliseconds - start.milliseconds) / 1000)
    }

    /// A length of time in its two largest units: `26 h`, `1 h 5 min`, `3 days`.
    package static func text(ofSeconds seconds: Int64) -> String {
        let units: [(Int64, String)] = [(86_400, "days"), (3600, "h"), (60, "min"), (1, "s")]
        // Up to two days are told in hours.
        var (left, words) = (seconds, [String]())
        for (size, name) in units where words.count < 2 {
            guard size < 86_400 || seconds >= 2 * 86_400 else { continue }
            let count = left / size
            left -= count * size
            if count > 0 {
                words.append("\(count) \(name == "days" && count == 1 ? "day" : name)")
            } else if !words.isEmpty {
                break
            }
        }
        return words.isEmpty ? "0 s" : words.joined(separator: " ")
    }
}
