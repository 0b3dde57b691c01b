import Synchronization

/// How many subscribers listen to deliveries: while there are none, on any
/// node, nobody is told of any.
package final class DeliveryListeners: Sendable, Hashable {
    private let count = Atomic(0)
    private let elsewhere = Atomic(false)

    /// Nobody listens at first.
    package init() {}

    /// Whether somebody listens to deliveries, on this node or another.
    package var isAnybodyThere: Bool { isAnybodyHere || elsewhere.load(ordering: .acquiring) }

    /// Whether somebody listens on this node.
    package var isAnybodyHere: Bool { count.load(ordering: .acquiring) > 0 }

    /// Notes whether somebody listens on another node.
    package func note(elsewhere isThere: Bool) { elsewhere.store(isThere, ordering: .releasing) }

    /// Counts a subscriber of this node in; each `enter` needs one `leave`.
    package func enter() { count.add(1, ordering: .acquiringAndReleasing) }

    /// Counts a subscriber of this node out.
    package func leave() { count.subtract(1, ordering: .acquiringAndReleasing) }

    /// Whether both are the same object.
    package static func == (left: DeliveryListeners, right: DeliveryListeners) -> Bool { left === right }

    /// Hashes the object's identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
