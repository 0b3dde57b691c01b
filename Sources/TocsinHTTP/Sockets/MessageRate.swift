import NIOCore

/// How fast a client may send: a bucket that holds so many messages and fills up again with time.
struct MessageRate {
    private let perSecond: Double
    private let most: Double
    private var left: Double
    private var filledAt = NIODeadline.now()

    /// A full bucket; `perSecond` 0 lets everything pass.
    init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        most = Double(max(1, burst))
        left = most
    }

    /// Takes one message out; false when there is none left.
    mutating func take() -> Bool {
        guard perSecond > 0 else { return true }
        if left < 1 {
            // The clock is read only when the bucket is empty: a quiet client costs nothing.
            let now = NIODeadline.now()
            left = min(most, left + Double((now - filledAt).nanoseconds) / 1e9 * perSecond)
            filledAt = now
        }
        guard left >= 1 else { return false }
        left -= 1
        return true
    }
}
