import Synchronization

/// How many subscribers listen to deliveries: while there are none, on any node, nobody is told of any.
package final class DeliveryListeners: Sendable, Hashable {
    private let count = Atomic(0)
    private let elsewhere = Atomic(false)

    package init() {}

    package var isAnybodyThere: Bool { isAnybodyHere || elsewhere.load(ordering: .acquiring) }

    /// Whether somebody listens on this node.
    package var isAnybodyHere: Bool { count.load(ordering: .acquiring) > 0 }

    /// Notes whether somebody listens on another node.
    package func note(elsewhere isThere: Bool) { elsewhere.store(isThere, ordering: .releasing) }

    package func enter() { count.add(1, ordering: .acquiringAndReleasing) }

    package func leave() { count.subtract(1, ordering: .acquiringAndReleasing) }

    package static func == (left: DeliveryListeners, right: DeliveryListeners) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
