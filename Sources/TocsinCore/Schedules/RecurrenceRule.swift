/// When something comes again and again, as calendars write it (RFC 5545 §3.3.10): what is common
/// of `RRULE`, and the `DTSTART` from which it counts.
package struct RecurrenceRule: Sendable, Hashable {
    /// How long a period is.
    enum Frequency: String, Sendable, Hashable, CaseIterable {
        case hourly = "HOURLY"
        case daily = "DAILY"
        case weekly = "WEEKLY"
        case monthly = "MONTHLY"
        case yearly = "YEARLY"
    }

    /// A day of the week, and which one of its period; nil: each.
    struct Day: Sendable, Hashable {
        var ordinal: Int?
        /// 0 is Sunday.
        var weekday: Int
    }

    /// A moment as a rule writes it, in seconds since 1970.
    enum Bound: Sendable, Hashable {
        /// What the clocks of the zone show.
        case wall(Int64)
        case utc(Int64)
    }

    var frequency: Frequency
    var interval: Int64 = 1
    var count: Int?
    var until: Bound?
    /// Nil: counts from the moment when the rule was written.
    var start: Bound?
    var days: [Day] = []
    /// Negative ones count from the end of the month.
    var monthDays: Set<Int64> = []
    var months: Set<Int64> = []
    /// In order; nil: that of the start.
    var hours: [Int]?
    /// In order; nil: that of the start.
    var minutes: [Int]?
    /// Which ones of a month's days are meant.
    var positions: Set<Int> = []
    /// 0 is Sunday.
    var weekStart = 1

    /// Whether a text is to be read as a rule, and not as a cron line.
    package static func mayBe(_ text: String) -> Bool {
        let start = text.prefix(7).uppercased()
        return start.hasPrefix("RRULE") || start.hasPrefix("DTSTART")
    }
}

extension RecurrenceRule {
    private static let maximumBytes = 512

    /// Reads `RRULE:…`, maybe with `DTSTART:…` and a space or a new line before it; throws what is
    /// wrong, where, and what to write.
    package init(_ text: String) throws(CronProblem) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw CronProblem("cron has more than \(Self.maximumBytes) bytes")
        }
        let lines = text.uppercased().split { $0.isWhitespace }
        guard let last = lines.last, lines.count <= 2, last.hasPrefix("RRULE:") else {
            throw CronProblem(
                "cron must be one RRULE, such as RRULE:FREQ=WEEKLY;BYDAY=MO;BYHOUR=9, with at most one DTSTART before it"
            )
        }
        var parts: [Substring: Substring] = [:]
        for part in last.dropFirst("RRULE:".count).split(separator: ";", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else {
                throw CronProblem("RRULE has \"\(part)\"; write parts such as FREQ=DAILY, with ; between")
            }
            guard parts.updateValue(halves[1], forKey: halves[0]) == nil else {
                throw CronProblem("RRULE has \(halves[0]) twice; write it once")
            }
        }
        try self.init(parts)
        if lines.count == 2 { start = try Self.start(lines[0]) }
        try check()
    }

    private init(_ parts: [Substring: Substring]) throws(CronProblem) {
        let known = Frequency.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = parts["FREQ"], let frequency = Frequency(rawValue: String(name)) else {
            throw CronProblem(
                "RRULE needs FREQ, one of \(known); it has \(parts["FREQ"].map { "\"\($0)\"" } ?? "none")"
            )
        }
        self.frequency = frequency
        for (name, value) in parts.sorted(by: { $0.key < $1.key }) where name != "FREQ" { try take(name, value) }
    }

    private mutating func take(_ name: Substring, _ value: Substring) throws(CronProblem) {
        switch name {
        case "INTERVAL": interval = try Self.numbers(value, name, 1...1000).first ?? 1
        case "COUNT": count = try Self.numbers(value, name, 1...1000).first.map { Int($0) }
        case "UNTIL": until = try Self.bound(value, name, atEndOfDay: true)
        case "BYMONTH": months = Set(try Self.numbers(value, name, 1...12))
        case "BYMONTHDAY": monthDays = Set(try Self.numbers(value, name, 1...31, isSigned: true))
        case "BYHOUR": hours = Set(try Self.numbers(value, name, 0...23)).sorted().map { Int($0) }
        case "BYMINUTE": minutes = Set(try Self.numbers(value, name, 0...59)).sorted().map { Int($0) }
        case "BYSETPOS": positions = Set(try Self.numbers(value, name, 1...31, isSigned: true).map { Int($0) })
        case "BYDAY": days = try Self.days(value)
        case "WKST":
            guard let day = WeeklyHours.dayNames.firstIndex(of: String(value)) else {
                throw CronProblem("WKST has \"\(value)\"; write one of MO, TU, WE, TH, FR, SA, SU")
            }
            weekStart = day
        default:
            throw CronProblem(
                "RRULE has \(name.prefix(32)), which this server does not take. It takes FREQ, INTERVAL, COUNT, UNTIL, BYMONTH, "
                    + "BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSETPOS and WKST"
            )
        }
    }

    /// What the parts must be to each other.
    private func check() throws(CronProblem) {
        if count != nil, until != nil { throw CronProblem("RRULE has COUNT and UNTIL; write one of them") }
        if days.contains(where: { $0.ordinal != nil }), ![.monthly, .yearly].contains(frequency) {
            throw CronProblem("BYDAY has a number before a day, which goes with FREQ=MONTHLY and FREQ=YEARLY alone")
        }
        if !monthDays.isEmpty, frequency == .weekly {
            throw CronProblem("BYMONTHDAY does not go with FREQ=WEEKLY; write FREQ=MONTHLY or FREQ=DAILY")
        }
        if frequency == .monthly, let day = days.first(where: { abs($0.ordinal ?? 1) > 5 }) {
            throw CronProblem("BYDAY has \(day.ordinal ?? 0) before a day; a month has at most 5 of them")
        }
        if start == nil, hours == nil, frequency != .hourly {
            throw CronProblem("RRULE needs BYHOUR, such as BYHOUR=9;BYMINUTE=30, or a DTSTART before it")
        }
        guard !positions.isEmpty else { return }
        guard frequency == .monthly, (hours?.count ?? 1) == 1, (minutes?.count ?? 1) == 1 else {
            throw CronProblem("BYSETPOS goes with FREQ=MONTHLY and one time a day")
        }
        guard !days.isEmpty || !monthDays.isEmpty else {
            throw CronProblem("BYSETPOS needs BYDAY or BYMONTHDAY, of whose days it takes some")
        }
    }
}

// The values of parts.
extension RecurrenceRule {
    private static func numbers(
        _ text: Substring,
        _ name: Substring,
        _ range: ClosedRange<Int64>,
        isSigned: Bool = false
    ) throws(CronProblem) -> [Int64] {
        let isList = name.hasPrefix("BY")
        var numbers: [Int64] = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = isSigned && (item.hasPrefix("-") || item.hasPrefix("+")) ? item.dropFirst() : item
            guard digits.utf8.count <= 4, digits.utf8.allSatisfy(isDigit), let number = Int64(digits),
                range.contains(number), isList || numbers.isEmpty
            else {
                let sign = isSigned ? ", or the same below zero to count from the end" : ""
                throw CronProblem("\(name) has \"\(item)\"; write \(range.lowerBound) to \(range.upperBound)\(sign)")
            }
            numbers.append(item.hasPrefix("-") ? -number : number)
        }
        return numbers
    }

    private static func days(_ text: Substring) throws(CronProblem) -> [Day] {
        var days: [Day] = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ordinal = item.dropLast(2)
            guard let weekday = WeeklyHours.dayNames.firstIndex(of: String(item.suffix(2))) else {
                throw CronProblem("BYDAY has \"\(item)\"; write days such as MO or, of a month, 1MO and -1FR")
            }
            guard !ordinal.isEmpty else {
                days.append(Day(ordinal: nil, weekday: weekday))
                continue
            }
            let number = try numbers(ordinal, "BYDAY", 1...53, isSigned: true).first ?? 1
            days.append(Day(ordinal: Int(number), weekday: weekday))
        }
        return days
    }

    private static func start(_ line: Substring) throws(CronProblem) -> Bound {
        guard line.hasPrefix("DTSTART:") else {
            throw CronProblem(
                "cron has \"\(line.prefix(64))\" before RRULE; write DTSTART:20261130T090000 there, and the zone in timeZone"
            )
        }
        return try bound(line.dropFirst("DTSTART:".count), "DTSTART", atEndOfDay: false)
    }

    /// `20261130`, `20261130T090000` or `20261130T090000Z`.
    private static func bound(
        _ text: Substring,
        _ name: Substring,
        atEndOfDay: Bool
    ) throws(CronProblem) -> Bound {
        let isUTC = text.hasSuffix("Z")
        let digits = Array((isUTC ? text.dropLast() : text).utf8)
        let isDate = digits.count == 8 && digits.allSatisfy(isDigit) && !isUTC
        let isTime =
            digits.count == 15 && digits[8] == UInt8(ascii: "T") && digits[..<8].allSatisfy(isDigit)
            && digits[9...].allSatisfy(isDigit)
        func number(_ range: Range<Int>) -> Int64 {
            digits[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        guard isDate || isTime, (1...12).contains(number(4..<6)), number(0..<4) >= 1970,
            (1...CivilDate.length(ofMonth: number(4..<6), inYear: number(0..<4))).contains(number(6..<8))
        else {
            throw CronProblem(
                "\(name) has \"\(text.prefix(32))\"; write a time such as 20261130T090000 or 20261130T090000Z"
            )
        }
        let midnight =
            CivilDate.days(year: number(0..<4), month: number(4..<6), day: number(6..<8)) * 86_400
        guard isTime else { return .wall(midnight + (atEndOfDay ? 86_399 : 0)) }
        let (hour, minute, second) = (number(9..<11), number(11..<13), number(13..<15))
        guard hour < 24, minute < 60, second < 60 else {
            throw CronProblem("\(name) has \"\(text.prefix(32))\"; hours end with 23, minutes and seconds with 59")
        }
        let seconds = midnight + hour * 3600 + minute * 60 + second
        return isUTC ? .utc(seconds) : .wall(seconds)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
