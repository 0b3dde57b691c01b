/// Dates as HTTP headers write them (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The date and time, not before 1970.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let day = seconds / 86_400
        let time = seconds % 86_400
        let (year, month, dayOfMonth) = civil(day)
        let clock = [time / 3600, time / 60 % 60, time % 60].map(two).joined(separator: ":")
        return "\(days[Int(day % 7)]), \(two(dayOfMonth)) \(months[Int(month - 1)]) \(year) \(clock) GMT"
    }

    private static func two(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    /// Days since 1970 to year, month and day, counting years from March so that
    /// the leap day comes last.
    private static func civil(_ daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSince1970 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
