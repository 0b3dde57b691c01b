import TocsinCore

/// `Retry-After`: seconds or an HTTP date (RFC 9110 §10.2.3).
enum RetryAfter {
    /// Longer wishes are cut to this.
    static let maximumSeconds = 3600.0

    /// The wish in seconds from now; nil when there is none, or it cannot be read.
    static func seconds(in response: PushResponse, now: Timestamp) -> Double? {
        guard let text = response.header("retry-after") else { return nil }
        if let seconds = Double(text), seconds.isFinite, seconds >= 0 { return min(seconds, maximumSeconds) }
        guard let date = Timestamp(httpDate: text) else { return nil }
        return min(max(0, Double(date.milliseconds - now.milliseconds) / 1000), maximumSeconds)
    }
}

extension PushResponse {
    /// The first value of a header, by its lowercase name.
    func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// How far this machine's clock is from a provider's: tokens fail when it is wrong.
enum ClockSkew {
    private static let tolerableSeconds = 300

    /// What to tell people; nil when the clocks agree within five minutes, or the date cannot
    /// be read.
    static func text(date: String?, now: Timestamp, of peer: String) -> String? {
        guard let date = date.flatMap({ Timestamp(httpDate: $0) }) else { return nil }
        let seconds = (now.milliseconds - date.milliseconds) / 1000
        guard seconds.magnitude > tolerableSeconds else { return nil }
        return "this machine's clock is \(seconds.magnitude) s \(seconds > 0 ? "ahead of" : "behind") \(peer)"
    }
}
