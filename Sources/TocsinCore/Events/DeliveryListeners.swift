import Synchronization

/// How many subscribers listen to deliveries: while there are none, nobody is told of any.
package final class DeliveryListeners: Sendable, Hashable {
    private let count = Atomic(0)

    package init() {}

    package var isAnybodyThere: Bool { count.load(ordering: .acquiring) > 0 }

    package func enter() { count.add(1, ordering: .acquiringAndReleasing) }

    package func leave() { count.subtract(1, ordering: .acquiringAndReleasing) }

    package static func == (left: DeliveryListeners, right: DeliveryListeners) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
