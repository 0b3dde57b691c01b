/// A moment in milliseconds since 1970-01-01T00:00:00Z.
package struct Timestamp: Hashable, Sendable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z, negative before it.
    package var milliseconds: Int64

    /// The moment so many milliseconds after 1970 began.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Whether the left moment is the earlier one.
    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment this many seconds later.
    package func adding(seconds: Double) -> Timestamp {
        Timestamp(milliseconds: milliseconds + Int64((seconds * 1000).rounded()))
    }

    /// `YYYY-MM-DDThh:mm:ss.sssZ`, always three fraction digits (AppSync's own timestamps).
    package var iso8601: String {
        let days = CivilDate.floorDivide(milliseconds, 86_400_000)
        let inDay = milliseconds - days * 86_400_000
        let (year, month, day) = CivilDate.civil(fromDays: days)
        guard (0...9999).contains(year) else { return Self.longISO8601(year, month, day, inDay) }
        // Digit by digit, for every message is given its time as a text.
        return String(unsafeUninitializedCapacity: 24) { buffer in
            var position = 0
            func write(_ value: Int64, _ width: Int, _ end: Unicode.Scalar) {
                var rest = value
                for index in (position..<(position + width)).reversed() {
                    buffer[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                buffer[position + width] = UInt8(ascii: end)
                position += width + 1
            }
            write(year, 4, "-")
            write(month, 2, "-")
            write(day, 2, "T")
            write(inDay / 3_600_000, 2, ":")
            write(inDay / 60_000 % 60, 2, ":")
            write(inDay / 1000 % 60, 2, ".")
            write(inDay % 1000, 3, "Z")
            return position
        }
    }

    /// The text of a moment in a year with more than four digits, or before the first one.
    private static func longISO8601(_ year: Int64, _ month: Int64, _ day: Int64, _ inDay: Int64) -> String {
        let time = [inDay / 3_600_000, inDay / 60_000 % 60, inDay / 1000 % 60].map { padded($0, to: 2) }
        return padded(year, to: 4) + "-" + padded(month, to: 2) + "-" + padded(day, to: 2)
            + "T" + time.joined(separator: ":") + "." + padded(inDay % 1000, to: 3) + "Z"
    }

    private static func padded(_ value: Int64, to width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// Wall time and sleeping, together, so that no code can be half injected.
package protocol TimeSource: Sendable {
    /// The time now.
    func now() -> Timestamp
    /// Sleeps until the moment has come; throws `CancellationError` when the task is cancelled.
    func sleep(until moment: Timestamp) async throws
}
