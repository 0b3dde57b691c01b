// Which days a rule means. A day is days since 1970-01-01, by a wall's calendar.
extension RecurrenceRule {
    /// Whether the rule that counts from the day `start` means a day.
    func contains(_ day: Int64, from start: Int64) -> Bool {
        guard positions.isEmpty else { return isAtPosition(day, from: start) }
        return isMeant(day, from: start)
    }

    private func isMeant(_ day: Int64, from start: Int64) -> Bool {
        let date = CivilDate(days: day)
        guard months.isEmpty || months.contains(date.month) else { return false }
        switch frequency {
        case .hourly: return isOneOf(date, day)
        case .daily: return (day - start) % interval == 0 && isOneOf(date, day)
        case .weekly:
            let weeks = (week(of: day) - week(of: start)) / 7
            let weekday = CivilDate.weekday(ofDays: day)
            let isDay =
                days.isEmpty
                ? weekday == CivilDate.weekday(ofDays: start) : days.contains { $0.weekday == weekday }
            return weeks % interval == 0 && isDay
        case .monthly:
            let first = CivilDate(days: start)
            let months = (date.year - first.year) * 12 + date.month - first.month
            let isDay = days.isEmpty && monthDays.isEmpty ? date.day == first.day : isOneOf(date, day)
            return months % interval == 0 && isDay
        case .yearly:
            let first = CivilDate(days: start)
            guard (date.year - first.year) % interval == 0 else { return false }
            guard days.isEmpty, monthDays.isEmpty else { return isOneOf(date, day) }
            return date.day == first.day && (!months.isEmpty || date.month == first.month)
        }
    }

    /// The first day of the week that a day lies in.
    private func week(of day: Int64) -> Int64 {
        day - Int64((CivilDate.weekday(ofDays: day) - weekStart + 7) % 7)
    }

    /// Whether BYMONTHDAY and BYDAY let a day through; one that is not given does.
    private func isOneOf(_ date: CivilDate, _ day: Int64) -> Bool {
        let length = CivilDate.length(ofMonth: date.month, inYear: date.year)
        guard monthDays.isEmpty || monthDays.contains(date.day) || monthDays.contains(date.day - length - 1) else {
            return false
        }
        guard !days.isEmpty else { return true }
        let weekday = CivilDate.weekday(ofDays: day)
        let isOfYear = frequency == .yearly && months.isEmpty
        let before = isOfYear ? day - CivilDate.days(year: date.year, month: 1, day: 1) : date.day - 1
        let behind =
            isOfYear ? CivilDate.days(year: date.year + 1, month: 1, day: 1) - 1 - day : length - date.day
        return days.contains { wanted in
            guard wanted.weekday == weekday else { return false }
            guard let ordinal = wanted.ordinal else { return true }
            return ordinal > 0 ? before / 7 + 1 == Int64(ordinal) : behind / 7 + 1 == Int64(-ordinal)
        }
    }

    /// Whether a day has one of the positions among those that its month means.
    private func isAtPosition(_ day: Int64, from start: Int64) -> Bool {
        guard isMeant(day, from: start) else { return false }
        let date = CivilDate(days: day)
        let first = day - date.day + 1
        let length = CivilDate.length(ofMonth: date.month, inYear: date.year)
        let meant = (first..<(first + length)).filter { isMeant($0, from: start) }
        guard let index = meant.firstIndex(of: day) else { return false }
        return positions.contains(index + 1) || positions.contains(index - meant.count)
    }
}
