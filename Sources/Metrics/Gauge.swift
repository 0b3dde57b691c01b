import Synchronization

/// A number that rises and falls, changed from any thread without a lock.
package final class Gauge: Sendable {
    private let number = Atomic<Int>(0)

    /// A gauge at 0.
    package init() {}

    /// Adds so many, or takes them away where they are less than none.
    package func add(_ count: Int = 1) { number.wrappingAdd(count, ordering: .relaxed) }

    /// Its value now.
    package var value: Int { number.load(ordering: .relaxed) }
}
