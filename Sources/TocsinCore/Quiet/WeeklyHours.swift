/// Hours of some days of the week, by a wall's clock.
package struct WeeklyHours: Sendable, Hashable {
    /// The days on which the hours begin; 0 is Sunday.
    package var days: Set<Int>
    /// Minutes after midnight.
    package var from: Int
    /// Minutes after midnight; of the next day where it is not after `from`.
    package var to: Int

    /// The names of the days, Sunday first.
    package static let dayNames = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]
    private static let day: Int64 = 86_400

    /// Hours that begin on these days.
    package init(days: Set<Int>, from: Int, to: Int) {
        (self.days, self.from, self.to) = (days, from, to)
    }

    /// When the hours that a moment lies in end, in seconds since 1970; nil outside of them.
    func end(at seconds: Int64, in zone: ZoneRules) -> Int64? {
        let today = CivilDate.floorDivide(seconds + zone.offset(at: seconds), Self.day)
        var latest: Int64?
        for day in (today - 1)...today where days.contains(CivilDate.weekday(ofDays: day)) {
            let midnight = day * Self.day
            let start = zone.moments(ofWall: midnight + Int64(from) * 60).first
            let end = zone.moments(ofWall: midnight + Int64(to) * 60 + (to <= from ? Self.day : 0)).last
            if start <= seconds, seconds < end { latest = max(latest ?? end, end) }
        }
        return latest
    }
}

extension ZoneRules.Moments {
    /// The first moment that a clock shows the time, or skips it.
    var first: Int64 {
        switch self {
        case .one(let moment), .two(let moment, _), .skipped(let moment): moment
        }
    }

    /// The last such moment.
    var last: Int64 {
        switch self {
        case .one(let moment), .two(_, let moment), .skipped(let moment): moment
        }
    }
}

// As the database keeps them.
extension WeeklyHours {
    /// Days, from and to, such as `1,2,3 1320 420`.
    package var text: String {
        days.sorted().map(String.init).joined(separator: ",") + " \(from) \(to)"
    }

    /// Reads what `text` wrote.
    package init?(text: Substring) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let from = Int(parts[1]), let to = Int(parts[2]) else { return nil }
        self.init(days: Set(parts[0].split(separator: ",").compactMap { Int($0) }), from: from, to: to)
    }
}
