import Synchronization
import TocsinCore

/// Counts pushes under way, so that neither the node, one provider nor one owner takes more than a share (P8, P9).
///
/// A push that has had no answer for a while is stalled: whoever has stalled pushes gets a smaller share.
final class FlightControl: Sendable {
    private struct Load: Sendable {
        var underWay = 0
        var stalled = 0
    }

    private struct Counts: Sendable {
        var total = 0
        var reserved = 0
        var services: [PushService: Load] = [:]
        var owners: [UserID: Load] = [:]
    }

    /// Whether a push may start.
    enum Place: Sendable, Hashable {
        case taken
        case none
        /// The owner's devices stall; it has its share under way.
        case ownerStalls
    }

    private let limit: Int
    /// A provider that stalls leaves a quarter to the other.
    private let serviceShare: Int
    /// An owner leaves a quarter of all, even before its devices are known to stall, to the other owners at its provider.
    private let ownerShare: Int
    /// What an owner gets whose devices stall.
    private let stalledOwnerShare: Int
    private let counts = Mutex(Counts())

    init(limit: Int) {
        self.limit = max(1, limit)
        serviceShare = max(1, limit - limit / 4)
        ownerShare = max(1, limit / 2)
        stalledOwnerShare = max(1, limit / 8)
    }

    /// How many pushes may start, whatever their provider, as far as can be said before the devices are known.
    var available: Int {
        counts.withLock { counts in
            let quick = counts.services.values.filter { $0.stalled == 0 }.map {
                serviceShare - $0.underWay - counts.reserved
            }
            return max(0, min(limit - counts.total - counts.reserved, quick.min() ?? limit))
        }
    }

    /// Keeps places for a page whose devices are being read.
    func reserve(_ places: Int) { counts.withLock { $0.reserved += places } }

    func unreserve(_ places: Int) { counts.withLock { $0.reserved -= places } }

    /// Takes a place for a push, if there is one.
    func take(_ service: PushService, _ owner: UserID) -> Place {
        counts.withLock { counts in
            let ownerLoad = counts.owners[owner, default: Load()]
            if ownerLoad.stalled > 0, ownerLoad.underWay >= stalledOwnerShare { return .ownerStalls }
            guard counts.total < limit, ownerLoad.underWay < ownerShare,
                counts.services[service, default: Load()].underWay < serviceShare
            else { return .none }
            counts.total += 1
            counts.services[service, default: Load()].underWay += 1
            counts.owners[owner, default: Load()].underWay += 1
            return .taken
        }
    }

    func markStalled(_ service: PushService, _ owner: UserID) {
        counts.withLock { counts in
            counts.services[service, default: Load()].stalled += 1
            counts.owners[owner, default: Load()].stalled += 1
        }
    }

    func release(_ service: PushService, _ owner: UserID, wasStalled: Bool) {
        counts.withLock { counts in
            counts.total -= 1
            counts.services[service]?.underWay -= 1
            counts.owners[owner]?.underWay -= 1
            if wasStalled {
                counts.services[service]?.stalled -= 1
                counts.owners[owner]?.stalled -= 1
            }
            if counts.owners[owner]?.underWay == 0 { counts.owners[owner] = nil }
        }
    }
}
