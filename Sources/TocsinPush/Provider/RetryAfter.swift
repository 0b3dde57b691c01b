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
