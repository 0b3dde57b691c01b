extension CronLine {
    /// 29 February is eight years away where a century has none.
    private static let searchedDays: Int64 = 3300
    private static let day: Int64 = 86_400

    /// The first time after a moment, by the clocks of a zone; nil where none comes in nine years.
    ///
    /// A time that the clocks skip comes when they skip it. One that they show twice comes the
    /// first time. A line for every hour goes on each hour instead, whatever the clocks show.
    package func next(after moment: Timestamp, in zone: ZoneRules) -> Timestamp? {
        let seconds = CivilDate.floorDivide(moment.milliseconds, 1000)
        // The day before: clocks may have been turned back over midnight.
        let today = CivilDate.floorDivide(seconds + zone.offset(at: seconds), Self.day) - 1
        for day in today..<(today + Self.searchedDays) where days.contain(day) {
            guard let found = first(on: day, after: seconds, in: zone) else { continue }
            let rival = days.contain(day + 1) ? first(on: day + 1, after: seconds, in: zone) : nil
            return Timestamp(milliseconds: min(found, rival ?? found) * 1000)
        }
        return nil
    }

    /// How many times lie behind `due` and not after `now`; counted up to `limit`.
    package func missed(
        since due: Timestamp,
        until now: Timestamp,
        in zone: ZoneRules,
        limit: Int = 1000
    ) -> Int {
        var (count, last) = (0, due)
        while count < limit, let next = next(after: last, in: zone), next <= now { (count, last) = (count + 1, next) }
        return count
    }

    /// The first moment after `seconds` that falls on a day.
    private func first(on day: Int64, after seconds: Int64, in zone: ZoneRules) -> Int64? {
        let midnight = day * Self.day
        let isEven = !zone.changes(from: midnight - 2 * Self.day, to: midnight + 3 * Self.day)
        let offset = zone.offset(at: midnight)
        var found: Int64?
        for hour in hours.sorted() {
            for minute in minutes.sorted() {
                let wall = midnight + Int64(hour) * 3600 + Int64(minute) * 60
                let moments = isEven ? [wall - offset] : moments(ofWall: wall, in: zone)
                for moment in moments where moment > seconds { found = min(found ?? moment, moment) }
                if isEven, let found { return found }
            }
        }
        return found
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
