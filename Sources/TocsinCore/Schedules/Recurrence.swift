/// When something comes again and again by the clocks of a zone: by a cron line or a rule.
package struct Recurrence: Sendable {
    private enum Source: Sendable {
        case cron(CronLine)
        case rule(RuleTimes)
    }

    private let source: Source
    private let zone: ZoneRules

    /// - Parameters:
    ///   - text: A cron line, or `RRULE:…` with or without a `DTSTART` before it.
    ///   - writtenAt: From when a rule without a `DTSTART` counts.
    package init(_ text: String, in zone: ZoneRules, writtenAt: Timestamp) throws(CronProblem) {
        self.zone = zone
        source =
            RecurrenceRule.mayBe(text)
            ? .rule(RuleTimes(try RecurrenceRule(text), in: zone, writtenAt: writtenAt)) : .cron(try CronLine(text))
    }

    /// The first time after a moment; nil where none comes any more, or none in many years.
    package func next(after moment: Timestamp) -> Timestamp? {
        switch source {
        case .cron(let line): line.next(after: moment, in: zone)
        case .rule(let times): times.next(after: moment)
        }
    }

    /// How many times lie behind `due` and not after `now`; counted up to `limit`.
    package func missed(since due: Timestamp, until now: Timestamp, limit: Int = 100) -> Int {
        var (count, last) = (0, due)
        while count < limit, let next = next(after: last), next <= now { (count, last) = (count + 1, next) }
        return count
    }
}

/// The times of a rule by the clocks of a zone.
///
/// A time that the clocks skip comes when they skip it. One that they show twice comes the first
/// time. A rule for every hour goes on each hour instead, whatever the clocks show.
struct RuleTimes: Sendable {
    private let rule: RecurrenceRule
    private let zone: ZoneRules
    /// What the clocks showed when the rule begins: it says nothing of what is before.
    private let start: Int64
    private let hours: [Int]
    private let minutes: [Int]
    /// Nothing comes behind this time on the wall.
    private var lastWall: Int64?
    /// Nothing comes behind this moment.
    private var lastMoment: Int64?
    private static let day: Int64 = 86_400
    /// 29 February on a day of the week may be 40 years away.
    private static let searchedDays: Int64 = 41 * 366

    init(_ rule: RecurrenceRule, in zone: ZoneRules, writtenAt: Timestamp) {
        (self.rule, self.zone) = (rule, zone)
        let written = CivilDate.floorDivide(writtenAt.milliseconds, 1000)
        start =
            switch rule.start {
            case .wall(let wall)?: wall
            case .utc(let moment)?: moment + zone.offset(at: moment)
            case nil: written + zone.offset(at: written)
            }
        let time = start - CivilDate.floorDivide(start, Self.day) * Self.day
        hours = rule.hours ?? (rule.frequency == .hourly ? Array(0..<24) : [Int(time / 3600)])
        minutes = rule.minutes ?? [rule.start == nil ? 0 : Int(time / 60 % 60)]
        switch rule.until {
        case .wall(let wall)?: lastWall = wall
        case .utc(let moment)?: lastMoment = moment
        case nil: break
        }
        if let count = rule.count { lastWall = wall(ofTime: count) }
    }

    func next(after moment: Timestamp) -> Timestamp? {
        let seconds = CivilDate.floorDivide(moment.milliseconds, 1000)
        let offsets = zone.offsets(from: seconds - 2 * Self.day, to: seconds + 3 * Self.day)
        var found: Int64?
        search(from: max(start, seconds + offsets.lowerBound)) { wall in
            // What the clocks show comes between its earliest and latest moment by these offsets.
            if let found, wall - (found - seconds < 2 * Self.day ? offsets : around(found)).upperBound >= found {
                return false
            }
            if let lastWall, wall > lastWall { return false }
            for moment in moments(ofWall: wall) where moment > seconds { found = min(found ?? moment, moment) }
            return true
        }
        guard let found, lastMoment.map({ found <= $0 }) ?? true else { return nil }
        return Timestamp(milliseconds: found * 1000)
    }

    private func around(_ moment: Int64) -> ClosedRange<Int64> {
        zone.offsets(from: moment - 2 * Self.day, to: moment + 2 * Self.day)
    }

    /// The time on the wall that comes as the so-manieth; nil where there are fewer in many years.
    private func wall(ofTime count: Int) -> Int64? {
        var (left, last) = (count, Int64?.none)
        search(from: start) { wall in
            (left, last) = (left - 1, wall)
            return left > 0
        }
        return left == 0 ? last : nil
    }

    /// Calls `body` with times on the wall from one on, in order, until it answers false.
    private func search(from first: Int64, _ body: (Int64) -> Bool) {
        let firstDay = CivilDate.floorDivide(first, Self.day)
        let startDay = CivilDate.floorDivide(start, Self.day)
        let startHour = CivilDate.floorDivide(start, 3600)
        // Rules without a DTSTART come at whole minutes.
        let second = rule.start == nil ? 0 : start - CivilDate.floorDivide(start, 60) * 60
        for day in firstDay..<(firstDay + Self.searchedDays) where rule.contains(day, from: startDay) {
            for hour in hours {
                let wallHour = day * 24 + Int64(hour)
                if rule.frequency == .hourly, (wallHour - startHour) % rule.interval != 0 { continue }
                guard wallHour * 3600 + 3600 > first else { continue }
                for minute in minutes {
                    let wall = wallHour * 3600 + Int64(minute) * 60 + second
                    guard wall < first || body(wall) else { return }
                }
            }
        }
    }

    private func moments(ofWall wall: Int64) -> [Int64] {
        let isHourly = rule.frequency == .hourly && rule.interval == 1 && rule.hours == nil
        switch zone.moments(ofWall: wall) {
        case .one(let moment): return [moment]
        case .two(let first, let second): return isHourly ? [first, second] : [first]
        case .skipped(let change): return isHourly ? [] : [change]
        }
    }
}
