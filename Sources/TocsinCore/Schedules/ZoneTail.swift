/// What a zone's clocks do after the last change that its file lists: a `TZ` text of POSIX, with
/// hours up to 167 (RFC 9636 §3.3).
struct ZoneTail {
    private let standard: Int64
    /// nil where clocks stay.
    private let summer: (offset: Int64, start: YearlyMoment, end: YearlyMoment)?
    /// Changes are worked out up to this year.
    private static let lastYear: Int64 = 2200

    init?(_ text: String) {
        var reader = TailReader(text)
        guard reader.skipName(), let behind = reader.duration() else { return nil }
        standard = -behind
        guard !reader.isAtEnd else {
            summer = nil
            return
        }
        guard reader.skipName() else { return nil }
        var offset = standard + 3600
        if !reader.isNext(",") {
            guard let behind = reader.duration() else { return nil }
            offset = -behind
        }
        guard let start = reader.yearlyMoment(), let end = reader.yearlyMoment(), reader.isAtEnd else { return nil }
        summer = (offset, start, end)
    }

    /// The changes after a moment, in order; from 1970 on for nil.
    func changes(after moment: Int64?) -> [ZoneRules.Change] {
        guard let summer else { return moment == nil ? [ZoneRules.Change(at: .min / 4, offset: standard)] : [] }
        let first = moment.map { CivilDate(days: CivilDate.floorDivide($0, 86_400)).year } ?? 1970
        guard first <= Self.lastYear else { return [] }
        var changes: [(change: ZoneRules.Change, isStart: Bool)] = []
        for year in first...Self.lastYear {
            changes.append((ZoneRules.Change(at: summer.start.wall(in: year) - standard, offset: summer.offset), true))
            changes.append((ZoneRules.Change(at: summer.end.wall(in: year) - summer.offset, offset: standard), false))
        }
        // A summer that begins as the last one ends goes on.
        changes.sort { ($0.change.at, $0.isStart ? 1 : 0) < ($1.change.at, $1.isStart ? 1 : 0) }
        var result: [ZoneRules.Change] = []
        for (change, _) in changes where change.at > moment ?? .min {
            if result.last?.at == change.at { result.removeLast() }
            result.append(change)
        }
        return result
    }
}

/// A moment that comes each year.
private struct YearlyMoment {
    enum Day {
        /// `Jn`: 1 to 365, 29 February is never counted.
        case ofCommonYear(Int64)
        /// `n`: 0 to 365.
        case ofYear(Int64)
        /// `Mm.w.d`: week 5 is the last one.
        case ofWeek(month: Int64, week: Int64, weekday: Int64)
    }

    let day: Day
    /// Seconds after midnight.
    let time: Int64

    /// What the clocks show then, in seconds since 1970.
    func wall(in year: Int64) -> Int64 { days(in: year) * 86_400 + time }

    private func days(in year: Int64) -> Int64 {
        let newYear = CivilDate.days(year: year, month: 1, day: 1)
        switch day {
        case .ofYear(let day): return newYear + day
        case .ofCommonYear(let day):
            let isLeap = CivilDate.length(ofMonth: 2, inYear: year) == 29
            return newYear + day - 1 + (isLeap && day >= 60 ? 1 : 0)
        case .ofWeek(let month, let week, let weekday):
            let first = CivilDate.days(year: year, month: month, day: 1)
            let length = CivilDate.length(ofMonth: month, inYear: year)
            var offset = (weekday - Int64(CivilDate.weekday(ofDays: first)) + 7) % 7 + (week - 1) * 7
            while offset >= length { offset -= 7 }
            return first + offset
        }
    }
}

/// Walks a `TZ` text.
private struct TailReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = Substring(text).utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    func isNext(_ character: Unicode.Scalar) -> Bool { rest.first.map { UInt32($0) == character.value } ?? false }

    /// `<…>` or letters, three at least.
    mutating func skipName() -> Bool {
        if skip("<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        let name = rest.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    /// `[+-]h[:m[:s]]`, in seconds.
    mutating func duration() -> Int64? {
        let isNegative = skip("-")
        if !isNegative { _ = skip("+") }
        guard let hours = number(to: 167) else { return nil }
        var seconds = hours * 3600
        for unit: Int64 in [60, 1] where skip(":") {
            guard let part = number(to: 59) else { return nil }
            seconds += part * unit
        }
        return isNegative ? -seconds : seconds
    }

    /// A comma, a date, and maybe a slash with a time.
    mutating func yearlyMoment() -> YearlyMoment? {
        guard skip(","), let day = day() else { return nil }
        guard skip("/") else { return YearlyMoment(day: day, time: 7200) }
        return duration().map { YearlyMoment(day: day, time: $0) }
    }

    private mutating func day() -> YearlyMoment.Day? {
        if skip("J") { return number(to: 365).map { .ofCommonYear($0) } }
        guard skip("M") else { return number(to: 365).map { .ofYear($0) } }
        guard let month = number(to: 12), month > 0, skip("."), let week = number(to: 5), week > 0, skip("."),
            let weekday = number(to: 6)
        else { return nil }
        return .ofWeek(month: month, week: week, weekday: weekday)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard isNext(character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func number(to maximum: Int64) -> Int64? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        return value <= maximum ? value : nil
    }
}
