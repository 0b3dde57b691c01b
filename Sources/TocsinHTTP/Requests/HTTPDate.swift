import Synchronization

/// The value of `Date` (RFC 9110 §5.6.7), written once a second.
final class HTTPDate: Sendable {
    private let now: @Sendable () -> Int64
    private let last = Mutex<(second: Int64, text: [UInt8])>((-1, []))

    /// A clock that takes Unix milliseconds from `now`.
    init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// The present time.
    var text: [UInt8] {
        let second = now() / 1000
        return last.withLock { last in
            if last.second != second { last = (second, Self.format(second)) }
            return last.text
        }
    }

    /// As in "Sun, 06 Nov 1994 08:49:37 GMT".
    static func format(_ second: Int64) -> [UInt8] {
        let days = second / 86_400
        let rest = second % 86_400
        let (year, month, day) = civilDate(days)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(days % 7)]
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map(twoDigits).joined(separator: ":")
        return Array("\(weekday), \(twoDigits(day)) \(names[Int(month) - 1]) \(year) \(time) GMT".utf8)
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Year, month and day of a count of days since 1970, not before it; years begin in March while it counts.
    private static func civilDate(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
