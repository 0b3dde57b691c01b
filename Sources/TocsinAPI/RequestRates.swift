package import Metrics
import Synchronization
package import TocsinCore

/// How often each owner may ask: a bucket of root fields for each, which fills again with time.
///
/// A request takes as many tokens as it has root fields. One that has more than a bucket holds is
/// served when the bucket is full, and later ones wait for the difference.
package final class RequestRates: Sendable {
    private struct Bucket {
        /// Less than none where a request took more than there were.
        var fields: Double
        var filledAt: Timestamp
    }

    private let perSecond: Double
    private let burst: Double
    private let time: any TimeSource
    /// Counts requests that were refused.
    private let refused: Counter?
    private let buckets = Mutex<[String: Bucket]>([:])
    /// Owners that are remembered at once; full buckets need no memory.
    private static let maximumBuckets = 100_000

    /// Rates with full buckets; nil when `perSecond` is 0, which means no limit.
    package init?(perSecond: Double, burst: Int, time: any TimeSource, refused: Counter? = nil) {
        guard perSecond > 0 else { return nil }
        self.perSecond = perSecond
        self.burst = Double(max(burst, 1))
        self.time = time
        self.refused = refused
    }

    /// Takes the tokens of an owner's request with so many root fields.
    ///
    /// Answers nil when the request may run, else after how many seconds it may be sent again.
    package func take(_ owner: String, rootFields count: Int = 1) -> Int? {
        let now = time.now()
        let seconds = wait(for: owner, rootFields: count, now)
        if seconds != nil { refused?.add() }
        return seconds
    }

    private func wait(for owner: String, rootFields count: Int, _ now: Timestamp) -> Int? {
        buckets.withLock { buckets in
            if buckets.count >= Self.maximumBuckets, buckets[owner] == nil { makeRoom(in: &buckets, now) }
            var fields = filled(buckets[owner], now)
            defer { buckets[owner] = Bucket(fields: fields, filledAt: now) }
            let needed = min(Double(max(count, 1)), burst)
            guard fields < needed else {
                fields -= Double(max(count, 1))
                return nil
            }
            return max(1, Int(((needed - fields) / perSecond).rounded(.up)))
        }
    }

    private func filled(_ bucket: Bucket?, _ now: Timestamp) -> Double {
        guard let bucket else { return burst }
        // A clock that goes back fills nothing and takes nothing.
        let seconds = Double(max(0, now.milliseconds - bucket.filledAt.milliseconds)) / 1000
        return min(burst, bucket.fields + seconds * perSecond)
    }

    /// Forgets full buckets; when all are in use, all of them, for that only lets
    /// their owners ask sooner.
    private func makeRoom(in buckets: inout [String: Bucket], _ now: Timestamp) {
        buckets = buckets.filter { filled($0.value, now) < burst }
        if buckets.count >= Self.maximumBuckets { buckets = [:] }
    }
}
