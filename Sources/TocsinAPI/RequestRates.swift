package import Metrics
import Synchronization
package import TocsinCore

/// How often each owner may ask: a bucket of root fields for each, which fills again with time.
///
/// A request takes as many tokens as it has root fields. One that has more than a bucket holds is
/// served when the bucket is full, and later ones wait for the difference.
package final class RequestRates: Sendable {
    fileprivate struct Bucket {
        /// Less than none where a request took more than there were.
        var fields: Double
        var filledAt: Timestamp
    }

    fileprivate struct State {
        /// 0: there is no limit.
        var perSecond: Double
        var burst: Double
        var buckets: [String: Bucket] = [:]
    }

    private let time: any TimeSource
    /// Counts requests that were refused.
    private let refused: Counter?
    private let state: Mutex<State>
    /// Whether there is a limit, for who asks at each request.
    private let isLimited: Atomic<Bool>
    /// Owners that are remembered at once; full buckets need no memory.
    fileprivate static let maximumBuckets = 100_000

    /// Rates with full buckets; a `perSecond` of 0 means no limit.
    package init(perSecond: Double, burst: Int, time: any TimeSource, refused: Counter? = nil) {
        state = Mutex(State(perSecond: perSecond, burst: Double(max(burst, 1))))
        isLimited = Atomic(perSecond > 0)
        self.time = time
        self.refused = refused
    }

    /// Sets the limit from now on; what owners have left stays, up to the new burst.
    package func set(perSecond: Double, burst: Int) {
        state.withLock { state in
            (state.perSecond, state.burst) = (perSecond, Double(max(burst, 1)))
            if perSecond <= 0 { state.buckets = [:] }
        }
        isLimited.store(perSecond > 0, ordering: .relaxed)
    }

    /// Takes the tokens of an owner's request with so many root fields.
    ///
    /// Answers nil when the request may run, else after how many seconds it may be sent again.
    package func take(_ owner: String, rootFields count: Int = 1) -> Int? {
        guard isLimited.load(ordering: .relaxed) else { return nil }
        let now = time.now()
        let seconds = state.withLock { $0.take(owner, count, now) }
        if seconds != nil { refused?.add() }
        return seconds
    }
}

extension RequestRates.State {
    mutating func take(_ owner: String, _ count: Int, _ now: Timestamp) -> Int? {
        guard perSecond > 0 else { return nil }
        if buckets.count >= RequestRates.maximumBuckets, buckets[owner] == nil { makeRoom(now) }
        var fields = filled(buckets[owner], now)
        defer { buckets[owner] = RequestRates.Bucket(fields: fields, filledAt: now) }
        let needed = min(Double(max(count, 1)), burst)
        guard fields < needed else {
            fields -= Double(max(count, 1))
            return nil
        }
        return max(1, Int(((needed - fields) / perSecond).rounded(.up)))
    }

    private func filled(_ bucket: RequestRates.Bucket?, _ now: Timestamp) -> Double {
        guard let bucket else { return burst }
        // A clock that goes back fills nothing and takes nothing.
        let seconds = Double(max(0, now.milliseconds - bucket.filledAt.milliseconds)) / 1000
        return min(burst, bucket.fields + seconds * perSecond)
    }

    /// Forgets full buckets; when all are in use, all of them, for that only lets
    /// their owners ask sooner.
    private mutating func makeRoom(_ now: Timestamp) {
        buckets = buckets.filter { filled($0.value, now) < burst }
        if buckets.count >= RequestRates.maximumBuckets { buckets = [:] }
    }
}
