import Glibc
import Synchronization

/// A count that only rises, added to from any thread without a lock.
///
/// Threads add to different words, so that two that count the same thing do not take each
/// other's cache line.
package final class Counter: Sendable {
    private let shards = InlineArray<8, CounterShard> { _ in CounterShard() }

    /// A count of 0.
    package init() {}

    /// Adds so many, which are not fewer than none.
    package func add(_ count: Int = 1) {
        shards[Self.shardOfThread].value.wrappingAdd(count, ordering: .relaxed)
    }

    /// All that was added until now.
    package var value: Int {
        var sum = 0
        for index in shards.indices { sum &+= shards[index].value.load(ordering: .relaxed) }
        return sum
    }

    /// Threads' addresses lie whole stacks apart; multiplied by the golden ratio, their upper bits
    /// differ.
    private static var shardOfThread: Int {
        Int(truncatingIfNeeded: (UInt64(pthread_self()) >> 12 &* 0x9E37_79B9_7F4A_7C15) >> 61)
    }
}

/// A word with a cache line of its own.
private struct CounterShard: ~Copyable, Sendable {
    let value = Atomic<Int>(0)
    private let padding = InlineArray<7, Int>(repeating: 0)
}

/// A number that rises and falls, changed from any thread without a lock.
package final class Gauge: Sendable {
    private let number = Atomic<Int>(0)

    /// A gauge at 0.
    package init() {}

    /// Adds so many, or takes them away where they are less than none.
    package func add(_ count: Int = 1) { number.wrappingAdd(count, ordering: .relaxed) }

    /// Its value from now on.
    package func set(_ value: Int) { number.store(value, ordering: .relaxed) }

    /// Its value now.
    package var value: Int { number.load(ordering: .relaxed) }
}
