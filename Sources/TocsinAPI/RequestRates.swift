import Synchronization
package import TocsinCore

/// How often each owner may ask: a bucket of requests for each, which fills again with time.
package final class RequestRates: Sendable {
    private struct Bucket {
        var requests: Double
        var filledAt: Timestamp
    }

    private let perSecond: Double
    private let burst: Double
    private let time: any TimeSource
    private let buckets = Mutex<[String: Bucket]>([:])
    /// So many owners are remembered at once; full buckets need no memory.
    private static let maximumBuckets = 100_000

    /// Rates with full buckets; nil when `perSecond` is 0, which means no limit.
    package init?(perSecond: Double, burst: Int, time: any TimeSource) {
        guard perSecond > 0 else { return nil }
        self.perSecond = perSecond
        self.burst = Double(max(burst, 1))
        self.time = time
    }

    /// Takes one request of the owner's; answers after how many seconds it may be sent when there is none.
    package func take(_ owner: String) -> Int? {
        let now = time.now()
        return buckets.withLock { buckets in
            if buckets.count >= Self.maximumBuckets, buckets[owner] == nil { makeRoom(in: &buckets, now) }
            var requests = filled(buckets[owner], now)
            defer { buckets[owner] = Bucket(requests: requests, filledAt: now) }
            guard requests < 1 else {
                requests -= 1
                return nil
            }
            return max(1, Int(((1 - requests) / perSecond).rounded(.up)))
        }
    }

    private func filled(_ bucket: Bucket?, _ now: Timestamp) -> Double {
        guard let bucket else { return burst }
        // A clock that goes back fills nothing and takes nothing.
        let seconds = Double(max(0, now.milliseconds - bucket.filledAt.milliseconds)) / 1000
        return min(burst, bucket.requests + seconds * perSecond)
    }

    /// Forgets full buckets; when all are in use, all of them, for that only lets their owners ask sooner.
    private func makeRoom(in buckets: inout [String: Bucket], _ now: Timestamp) {
        buckets = buckets.filter { filled($0.value, now) < burst }
        if buckets.count >= Self.maximumBuckets { buckets = [:] }
    }
}
