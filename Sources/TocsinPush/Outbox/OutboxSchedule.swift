import TocsinCore

/// Decides what the outbox does next: events in, actions out, no waiting and no clock.
struct OutboxSchedule: Sendable {
    enum Event: Sendable {
        case woken
        case ticked(Timestamp)
        /// Something that was written will be due then.
        case due(Timestamp)
        case claimed(OutboxClaim?)
        /// A page was written; what is left of its fan-out.
        case advanced(FanoutJob?)
        /// All answers of a page or of retries have come in.
        case landed
        case stopping
        case stopDeadline
    }

    enum Action: Sendable {
        case claim(OutboxClaim.Wish)
        case serve(FanoutJob, limit: Int)
        case fly(OutboxClaim)
        /// Gives back what was taken too late to be sent.
        case putBack(OutboxClaim)
        case tick(at: Timestamp)
        case startStopClock
        case abandonFlights
        /// The last action: gives back what was not begun.
        case finish([FanoutJob])
    }

    private static let claimedAtOnce = 64
    private static let blockedSeconds = 0.2
    private static let failedSeconds = 1.0
    private static let leastSeconds = 0.02
    private let settings: OutboxSettings
    private var queue = FanoutQueue()
    /// Fan-outs we hold a lease on.
    private var held = 0
    private var flights = 0
    private var isClaiming = false
    private var mayHaveWork = true
    private var isStopping = false
    private var due: Timestamp?
    private var ticking: Timestamp?

    init(settings: OutboxSettings) {
        self.settings = settings
    }

    /// Takes in an event.
    ///
    /// Places in `available` are counted down as pages are started.
    mutating func handle(_ event: Event, now: Timestamp, available: Int) -> [Action] {
        var actions: [Action] = []
        take(in: event, now: now, &actions)
        guard !isStopping else { return actions + finishing() }
        startPages(available, &actions)
        startClaim(available, &actions)
        planTick(now, available, &actions)
        return actions
    }

    private mutating func take(in event: Event, now: Timestamp, _ actions: inout [Action]) {
        switch event {
        case .woken: mayHaveWork = true
        case .ticked(let moment):
            mayHaveWork = true
            if ticking == moment { ticking = nil }
        case .due(let moment): due = due.map { min($0, moment) } ?? moment
        case .claimed(let claim):
            isClaiming = false
            take(claim, now: now, &actions)
        case .advanced(let job):
            if let job { queue.append(job) } else { held -= 1 }
        case .landed: flights -= 1
        case .stopping:
            isStopping = true
            actions.append(.startStopClock)
        case .stopDeadline: actions.append(.abandonFlights)
        }
    }

    private mutating func take(_ claim: OutboxClaim?, now: Timestamp, _ actions: inout [Action]) {
        guard let claim else {
            due = now.adding(seconds: Self.failedSeconds)
            return
        }
        held += claim.jobs.count
        for job in claim.jobs { queue.append(job) }
        if !claim.retries.isEmpty {
            flights += 1
            actions.append(isStopping ? .putBack(claim) : .fly(claim))
        }
        // What was written since the claim looked is due as well; a moment too many costs one look.
        due = [due.flatMap { $0 > now ? $0 : nil }, claim.nextDue].compactMap(\.self).min()
        mayHaveWork = mayHaveWork || claim.mayHaveMore
    }

    private mutating func startPages(_ available: Int, _ actions: inout [Action]) {
        var places = available
        while flights < settings.flights, places > 0, let job = queue.popFirst() {
            let limit = job.pageLimit(settings, available: places)
            places -= limit
            flights += 1
            actions.append(.serve(job, limit: limit))
        }
    }

    private mutating func startClaim(_ available: Int, _ actions: inout [Action]) {
        guard mayHaveWork, !isClaiming, let wish = wish(available) else { return }
        (mayHaveWork, isClaiming) = (false, true)
        actions.append(.claim(wish))
    }

    private func wish(_ available: Int) -> OutboxClaim.Wish? {
        let fanouts = min(Self.claimedAtOnce, settings.heldFanouts - held)
        // More than there are places, so that what cannot go does not hide what can.
        let deliveries = flights < settings.flights && available > 0 ? settings.pageSize : 0
        return fanouts > 0 || deliveries > 0 ? OutboxClaim.Wish(fanouts: max(0, fanouts), deliveries: deliveries) : nil
    }

    /// One alarm is set for the earliest moment; earlier ones may be added, later ones are left to ring in vain.
    private mutating func planTick(_ now: Timestamp, _ available: Int, _ actions: inout [Action]) {
        guard !isClaiming else { return }
        let isBlocked = mayHaveWork || (queue.count > 0 && available == 0)
        let wanted = isBlocked ? now.adding(seconds: Self.blockedSeconds) : due
        let latest = now.adding(seconds: settings.pollSeconds)
        let moment = max(now.adding(seconds: Self.leastSeconds), min(wanted ?? latest, latest))
        if let ticking, ticking <= moment { return }
        ticking = moment
        actions.append(.tick(at: moment))
    }

    private mutating func finishing() -> [Action] {
        guard flights == 0, !isClaiming else { return [] }
        var left: [FanoutJob] = []
        while let job = queue.popFirst() { left.append(job) }
        return [.finish(left)]
    }
}
