import Encodings
import Metrics
import Synchronization
import TocsinCore

/// How many wrong keys an address may send: some at once, then one a minute.
///
/// Only what is wrong is counted and refused: behind one address, that of a proxy or an office,
/// are senders whose keys are good.
final class KeyGuesses: Sendable {
    private struct Guesses {
        var count: Double
        var at: Timestamp
    }

    /// Wrong keys at once.
    static let maximumCount = 30.0
    /// What becomes good again in a second.
    private static let perSecond = 1.0 / 60
    private static let maximumAddresses = 10_000

    /// Counts refusals.
    private let refused: Counter?
    private let guesses = Mutex<[IPAddress: Guesses]>([:])

    /// Nobody has guessed yet.
    init(refused: Counter? = nil) { self.refused = refused }

    /// Notes a wrong key; an IPv6 network of 64 bits counts as one address.
    ///
    /// Answers how long the address has to wait, where it has sent too many; nil: it has not.
    func note(_ address: IPAddress?, now: Timestamp) -> Int? {
        guard let address = address?.client else { return nil }
        let seconds = guesses.withLock { guesses -> Int? in
            if guesses.count >= Self.maximumAddresses, guesses[address] == nil {
                guesses = guesses.filter { Self.count($0.value, now) > 0 }
                // Where all are new, all begin anew.
                if guesses.count >= Self.maximumAddresses { guesses = [:] }
            }
            let count = guesses[address].map { Self.count($0, now) } ?? 0
            guard count <= Self.maximumCount - 1 else {
                return max(1, Int(((count - Self.maximumCount + 1) / Self.perSecond).rounded(.up)))
            }
            guesses[address] = Guesses(count: count + 1, at: now)
            return nil
        }
        if seconds != nil { refused?.add() }
        return seconds
    }

    private static func count(_ known: Guesses, _ now: Timestamp) -> Double {
        let seconds = Double(max(0, now.milliseconds - known.at.milliseconds)) / 1000
        return max(0, known.count - seconds * perSecond)
    }
}

/// How many events integrations send: so many a minute, and more at once.
final class IntegrationRates: Sendable {
    private struct Bucket {
        var left: Double
        var at: Timestamp
    }

    /// Counts refusals.
    private let refused: Counter?
    private let buckets = Mutex<[String: Bucket]>([:])
    /// Events at once, where the minute's are fewer.
    private static let leastBurst = 1000.0
    private static let maximumBuckets = 10_000

    /// Nobody has sent any yet.
    init(refused: Counter? = nil) { self.refused = refused }

    /// Takes so many events; answers how many seconds to wait where there are not as many left.
    func take(_ count: Int, of integration: String, perMinute: Int, now: Timestamp) -> Int? {
        let (perSecond, count) = (Double(perMinute) / 60, Double(max(1, count)))
        let burst = max(Self.leastBurst, perSecond * 10)
        let seconds = buckets.withLock { buckets -> Int? in
            if buckets.count >= Self.maximumBuckets, buckets[integration] == nil { buckets = [:] }
            var bucket = buckets[integration] ?? Bucket(left: burst, at: now)
            let seconds = Double(max(0, now.milliseconds - bucket.at.milliseconds)) / 1000
            bucket = Bucket(left: min(burst, bucket.left + seconds * perSecond), at: now)
            defer { buckets[integration] = bucket }
            guard bucket.left >= count else {
                return min(30, max(1, Int(((count - bucket.left) / perSecond).rounded(.up))))
            }
            bucket.left -= count
            return nil
        }
        if seconds != nil { refused?.add() }
        return seconds
    }
}
