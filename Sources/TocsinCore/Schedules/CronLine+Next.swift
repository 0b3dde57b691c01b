extension CronLine {
    /// 29 February is eight years away where a century has none.
    private static let searchedDays: Int64 = 3300
    private static let day: Int64 = 86_400

    /// The first time after a moment, by the clocks of a zone; nil where none comes in nine years.
    ///
    /// A time that the clocks skip comes when they skip it. One that they show twice comes the
    /// first time. A line for every hour goes on each hour instead, whatever the clocks show.
    package func next(after moment: Timestamp, in zone: ZoneRules) -> Timestamp? {
        search(after: moment, in: zone).time
    }

    /// `next`, and how many days and times were looked at to find it.
    package func search(after moment: Timestamp, in zone: ZoneRules) -> (time: Timestamp?, steps: Int) {
        let seconds = CivilDate.floorDivide(moment.milliseconds, 1000)
        // The day before: clocks may have been turned back over midnight.
        let today = CivilDate.floorDivide(seconds + zone.offset(at: seconds), Self.day) - 1
        var steps = 0
        for day in today..<(today + Self.searchedDays) {
            steps += 1
            guard days.contain(day), let found = first(on: day, after: seconds, in: zone, &steps) else { continue }
            let rival = days.contain(day + 1) ? first(on: day + 1, after: seconds, in: zone, &steps) : nil
            return (Timestamp(milliseconds: min(found, rival ?? found) * 1000), steps)
        }
        return (nil, steps)
    }

    /// How many times lie behind `due` and not after `now`; counted up to `limit`.
    package func missed(
        since due: Timestamp,
        until now: Timestamp,
        in zone: ZoneRules,
        limit: Int = 100
    ) -> Int {
        var (count, last) = (0, due)
        while count < limit, let next = next(after: last, in: zone), next <= now { (count, last) = (count + 1, next) }
        return count
    }

    /// The first moment after `seconds` that falls on a day.
    private func first(on day: Int64, after seconds: Int64, in zone: ZoneRules, _ steps: inout Int) -> Int64? {
        let midnight = day * Self.day
        let offsets = zone.offsets(from: midnight - 2 * Self.day, to: midnight + 3 * Self.day)
        var found: Int64?
        // What the clocks show comes between its earliest and its latest moment by these offsets.
        var time = time(after: seconds + offsets.lowerBound - midnight)
        while let wall = time.map({ midnight + $0 }), found.map({ wall - offsets.upperBound < $0 }) ?? true {
            steps += 1
            for moment in moments(ofWall: wall, in: zone) where moment > seconds {
                found = min(found ?? moment, moment)
            }
            time = self.time(after: wall - midnight)
        }
        return found
    }

    /// The first time of a day, in seconds on its clock, that is later than so many seconds.
    private func time(after seconds: Int64) -> Int64? {
        let earliest = seconds < 0 ? 0 : seconds / 60 + 1
        let (earliestHour, earliestMinute) = (Int(earliest / 60), Int(earliest % 60))
        if hours.contains(earliestHour), let minute = minutes.first(where: { $0 >= earliestMinute }) {
            return Int64(earliestHour) * 3600 + Int64(minute) * 60
        }
        guard let hour = hours.first(where: { $0 > earliestHour }), let minute = minutes.first else { return nil }
        return Int64(hour) * 3600 + Int64(minute) * 60
    }

    private func moments(ofWall wall: Int64, in zone: ZoneRules) -> [Int64] {
        let isHourly = hours.count == 24
        switch zone.moments(ofWall: wall) {
        case .one(let moment): return [moment]
        case .two(let first, let second): return isHourly ? [first, second] : [first]
        case .skipped(let change): return isHourly ? [] : [change]
        }
    }
}
