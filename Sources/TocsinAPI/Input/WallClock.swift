import TocsinCore

/// Times of a day without an offset, as they are read and written.
enum WallClock {
    /// Minutes after midnight of a time without offset.
    static func minutes(_ text: String, _ field: String) throws(ServiceError) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let isWhole = parts.count == 2 || (parts.count == 3 && ["00", "00.000"].contains(parts[2]))
        guard isWhole, parts[0].utf8.count == 2, parts[1].utf8.count == 2, let hour = Int(parts[0]),
            let minute = Int(parts[1]), (0...23).contains(hour), (0...59).contains(minute)
        else {
            throw .badInput(
                "\(field) \"\(text.prefix(64))\" must be hours and minutes without an offset, such as 22:00."
            )
        }
        return hour * 60 + minute
    }

    /// Hours and minutes of so many minutes after midnight.
    static func text(_ minutes: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return two(minutes / 60) + ":" + two(minutes % 60)
    }
}
