import Synchronization
import TocsinCore

/// Counts pushes under way, so that neither the node, a provider, a browser's push service nor an
/// owner takes more than a share.
///
/// A push that has had no answer for a while is stalled: whoever has stalled pushes gets a smaller
/// share.
final class InFlightLimiter: Sendable {
    private struct Load: Sendable {
        var underWay = 0
        var stalled = 0

        mutating func end(wasStalled: Bool) {
            underWay -= 1
            if wasStalled { stalled -= 1 }
        }
    }

    private struct Counts: Sendable {
        var total = 0
        var reserved = 0
        var services: [PushService: Load] = [:]
        /// Of browsers' push services alone.
        var origins: [String: Load] = [:]
        var owners: [UserID: Load] = [:]
    }

    /// Whether a push may start.
    enum Slot: Sendable, Hashable {
        case taken
        case none
        /// The owner's devices or their push service stall; they have their share under way.
        case stalls
    }

    private let limit: Int
    /// A provider that stalls leaves a quarter to the others.
    let serviceShare: Int
    /// An owner leaves a quarter of all to the other owners at its provider, even before its
    /// devices are known to stall.
    ///
    /// So does a push service, named by its browser, to the others.
    private let singleShare: Int
    /// What they get when they stall.
    private let stalledShare: Int
    private let counts = Mutex(Counts())

    init(limit: Int) {
        self.limit = max(1, limit)
        serviceShare = max(1, limit - limit / 4)
        singleShare = max(1, limit / 2)
        stalledShare = max(1, limit / 8)
    }

    /// How many pushes may start, whatever their provider, as far as can be said
    /// before the devices are known.
    var available: Int {
        counts.withLock { counts in
            let quick = counts.services.values.filter { $0.stalled == 0 }.map {
                serviceShare - $0.underWay - counts.reserved
            }
            return max(0, min(limit - counts.total - counts.reserved, quick.min() ?? limit))
        }
    }

    /// How many pushes of each service are under way.
    var underWay: [PushService: Int] { counts.withLock { $0.services.mapValues(\.underWay) } }

    /// Keeps slots for a page whose devices are being read.
    func reserve(_ slots: Int) { counts.withLock { $0.reserved += slots } }

    func unreserve(_ slots: Int) { counts.withLock { $0.reserved -= slots } }

    /// Takes a slot for a push, if there is one.
    func take(_ lane: PushLane, _ owner: UserID) -> Slot {
        let origin = Self.origin(of: lane)
        return counts.withLock { counts in
            let singles = [counts.owners[owner], origin.flatMap { counts.origins[$0] }].compactMap(\.self)
            if singles.contains(where: { $0.stalled > 0 && $0.underWay >= stalledShare }) { return .stalls }
            guard counts.total < limit, singles.allSatisfy({ $0.underWay < singleShare }),
                counts.services[lane.service, default: Load()].underWay < serviceShare
            else { return .none }
            counts.total += 1
            counts.services[lane.service, default: Load()].underWay += 1
            counts.owners[owner, default: Load()].underWay += 1
            if let origin { counts.origins[origin, default: Load()].underWay += 1 }
            return .taken
        }
    }

    /// Has a push that has a slot count as stalled.
    func markStalled(_ lane: PushLane, _ owner: UserID) {
        let origin = Self.origin(of: lane)
        counts.withLock { counts in
            counts.services[lane.service, default: Load()].stalled += 1
            counts.owners[owner, default: Load()].stalled += 1
            if let origin { counts.origins[origin, default: Load()].stalled += 1 }
        }
    }

    func release(_ lane: PushLane, _ owner: UserID, wasStalled: Bool) {
        let origin = Self.origin(of: lane)
        counts.withLock { counts in
            counts.total -= 1
            counts.services[lane.service]?.end(wasStalled: wasStalled)
            Self.end(&counts.owners[owner], wasStalled: wasStalled)
            if let origin { Self.end(&counts.origins[origin], wasStalled: wasStalled) }
        }
    }

    /// Forgets who has nothing under way: clients name them.
    private static func end(_ load: inout Load?, wasStalled: Bool) {
        load?.end(wasStalled: wasStalled)
        if load?.underWay == 0 { load = nil }
    }

    private static func origin(of lane: PushLane) -> String? { lane.service == .webPush ? lane.appID : nil }
}
