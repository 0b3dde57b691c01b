package import TocsinCore

/// How the outbox works; `docs/settings.md` and `docs/delivery-states.md` explain them.
package struct OutboxSettings: Sendable, Hashable {
    /// Tells nodes apart in leases.
    package var node = "node"
    /// How long a node holds a page or delivery without renewing.
    package var leaseSeconds = 60.0
    /// Pushes under way at once on this node.
    package var inFlight = 2000
    /// Devices of a page at most.
    package var pageSize = 500
    /// Devices of a fan-out's first page at most.
    package var firstPageSize = 100
    /// Fan-outs that may share a first page at most.
    package var jobsAPage = 64
    /// Devices of one range, about: a fan-out to a large topic is divided into ranges, so that
    /// pages of several are under way at once, on this node and on others.
    package var rangeSize = 5000
    /// Ranges that one fan-out is divided into at most.
    package var maximumRanges = 16
    /// A page is written down when this time is over, even if some pushes have no
    /// answer yet; those follow.
    package var pagePatienceSeconds = 1.0
    /// Fan-outs held at once.
    ///
    /// A quarter more may be held of urgent ones.
    package var heldFanouts = 512
    /// Pages and retries under way at once.
    package var batches = 64
    /// The store is asked for due work at least this often.
    package var pollSeconds = 5.0
    /// Pushes that a Firebase project may get in a minute; 0: no quota.
    package var fcmPerMinute = 600_000
    /// Seconds in which a burst grows to the project's quota.
    package var fcmRampSeconds = 60.0
    /// What pushes under way get when the server stops.
    package var stopSeconds = 10.0
    /// Whether the store's observer hears of every delivery.
    package var notesDeliveries = false
    /// Who listens to deliveries; the observer hears of them while anybody does.
    package var listeners: DeliveryListeners?
    /// Devices that were not heard of for this long are skipped; nil: none are.
    package var staleSeconds: Double?
    /// When deliveries are tried again.
    package var retry = RetryPolicy()

    /// Whether deliveries are noted just now.
    ///
    /// It must be asked inside the write, so that a listener from before the write misses nothing.
    var wantsNotes: Bool { notesDeliveries || listeners?.isAnybodyThere ?? false }

    /// The documented defaults.
    package init() {}
}
