/// When something comes again and again: minute, hour, day of the month, month and day of the week.
///
/// As in cron, a day is meant that satisfies either field where both days are restricted.
package struct CronLine: Sendable, Hashable {
    /// In order.
    let minutes: [Int]
    /// In order.
    let hours: [Int]
    let days: CronDays
    private static let maximumBytes = 256

    /// Reads five fields; throws what is wrong, where, and what to write.
    package init(_ text: String) throws(CronProblem) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw CronProblem("cron has more than \(Self.maximumBytes) bytes")
        }
        let parts = text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map { String($0) ?? "" }
        guard parts.count == CronField.all.count else {
            let count = parts.count == 1 ? "one field" : "\(parts.count) fields"
            throw CronProblem(
                "cron \"\(text)\" has \(count); write five, for minute, hour, day of month, month and day of week, such as "
                    + "\"30 8 * * mon-fri\""
            )
        }
        var fields: [CronField.Values] = []
        for (field, part) in zip(CronField.all, parts) { fields.append(try field.values(of: part)) }
        (minutes, hours) = (fields[0].values.sorted(), fields[1].values.sorted())
        days = CronDays(dayOfMonth: fields[2], month: fields[3], dayOfWeek: fields[4])
        guard days.everCome else {
            throw CronProblem(
                "cron \"\(text)\" never comes: none of its months has such a day. Write a day that is there, or L for the "
                    + "last one"
            )
        }
    }
}

/// What is wrong with a cron line.
package struct CronProblem: Error, Sendable, Hashable {
    /// A sentence without its full stop.
    package let text: String

    init(_ text: String) { self.text = text }
}

/// The days that a line means.
struct CronDays: Sendable, Hashable {
    let dayOfMonth: CronField.Values
    let month: CronField.Values
    let dayOfWeek: CronField.Values

    /// Whether there is such a day in any year.
    var everCome: Bool {
        guard dayOfWeek.isEverything, !dayOfMonth.hasLast else { return true }
        return month.values.contains { month in
            // 2024 is a leap year.
            let length = CivilDate.length(ofMonth: Int64(month), inYear: 2024)
            return dayOfMonth.values.contains { $0 <= Int(length) }
        }
    }

    func contain(_ days: Int64) -> Bool {
        let date = CivilDate(days: days)
        guard month.values.contains(Int(date.month)) else { return false }
        let left = CivilDate.length(ofMonth: date.month, inYear: date.year) - date.day
        let weekday = CivilDate.weekday(ofDays: days)
        let isDay = dayOfMonth.values.contains(Int(date.day)) || (dayOfMonth.hasLast && left == 0)
        let isWeekday =
            dayOfWeek.values.contains(weekday) || (left < 7 && dayOfWeek.lastWeekdays.contains(weekday))
        if dayOfMonth.isEverything || dayOfWeek.isEverything { return isDay && isWeekday }
        return isDay || isWeekday
    }
}

/// One of the five fields: what may stand in it.
struct CronField: Sendable {
    let name: String
    let range: ClosedRange<Int>
    let names: [String]
    let example: String

    /// What a field says.
    struct Values: Sendable, Hashable {
        var values: Set<Int> = []
        /// `L`: the last day of the month.
        var hasLast = false
        /// `5L`, `friL`: the last such day of the month.
        var lastWeekdays: Set<Int> = []
        /// Whether it begins with `*`, and so restricts no day by itself.
        var isEverything = false
    }

    static let all = [
        CronField(name: "minute", range: 0...59, names: [], example: "0 to 59, such as 30, 0,30, 10-20 or */5"),
        CronField(name: "hour", range: 0...23, names: [], example: "0 to 23, such as 8, 8,20, 9-17 or */2"),
        CronField(
            name: "day of month",
            range: 1...31,
            names: [],
            example: "1 to 31 or L for the last day, such as 1, 1,15, 1-7 or L"
        ),
        CronField(
            name: "month",
            range: 1...12,
            names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
            example: "1 to 12 or jan to dec, such as 6, jan,jul or 3-10"
        ),
        CronField(
            name: "day of week",
            range: 0...7,
            names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
            example: "0 to 7 or sun to sat, such as mon-fri or 6,0; friL is the month's last Friday"
        ),
    ]

    func values(of text: String) throws(CronProblem) -> Values {
        var result = Values()
        result.isEverything = text.hasPrefix("*")
        for item in text.lowercased().utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            try add(String(item) ?? "", to: &result, of: text)
        }
        return result
    }

    private func add(_ item: String, to result: inout Values, of text: String) throws(CronProblem) {
        if item == "l", name == "day of month" {
            result.hasLast = true
            return
        }
        if item.count > 1, item.hasSuffix("l"), name == "day of week", let day = number(item.dropLast()) {
            result.lastWeekdays.insert(day % 7)
            return
        }
        let parts = item.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let span = parts.first.flatMap({ span($0, isStepped: parts.count == 2) }) else {
            throw problem(item, text)
        }
        var step = 1
        if parts.count == 2 {
            guard let given = Int(parts[1]), given > 0, given <= range.upperBound, !parts[1].hasPrefix("+") else {
                throw problem(item, text)
            }
            step = given
        }
        for value in stride(from: span.lowerBound, through: span.upperBound, by: step) {
            result.values.insert(name == "day of week" ? value % 7 : value)
        }
    }

    private func span(_ text: Substring, isStepped: Bool) -> ClosedRange<Int>? {
        if text == "*" { return name == "day of week" ? 0...6 : range }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = ends.first.flatMap(number), ends.count <= 2 else { return nil }
        guard ends.count == 2 else { return first...(isStepped ? range.upperBound : first) }
        guard var last = number(ends[1]) else { return nil }
        // A week may begin with Sunday or end with it.
        if last == 0, first > 0, name == "day of week" { last = 7 }
        return first <= last ? first...last : nil
    }

    private func number(_ text: Substring) -> Int? {
        if let index = names.firstIndex(of: String(text)) { return index + range.lowerBound }
        guard text.utf8.count <= 2, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let value = Int(text), range.contains(value)
        else { return nil }
        return value
    }

    private func problem(_ item: String, _ text: String) -> CronProblem {
        CronProblem("cron has \"\(item)\" in the field of the \(name), \"\(text)\"; write \(example)")
    }
}
