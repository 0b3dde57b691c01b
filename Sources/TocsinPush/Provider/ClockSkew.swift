import TocsinCore

/// How far this machine's clock is from a provider's: tokens fail when it is wrong.
enum ClockSkew {
    private static let tolerableSeconds = 300

    /// What to tell people; nil when the clocks agree within five minutes or the date cannot be read.
    static func text(date: String?, now: Timestamp, of peer: String) -> String? {
        guard let date = date.flatMap({ Timestamp(httpDate: $0) }) else { return nil }
        let seconds = (now.milliseconds - date.milliseconds) / 1000
        guard seconds.magnitude > tolerableSeconds else { return nil }
        return "this machine's clock is \(seconds.magnitude) s \(seconds > 0 ? "ahead of" : "behind") \(peer)"
    }
}
