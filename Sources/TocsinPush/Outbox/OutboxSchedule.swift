import TocsinCore

/// Decides what the outbox does next: events in, actions out, no waiting and no clock.
struct OutboxSchedule: Sendable {
    enum Event: Sendable {
        case woken
        case ticked(Timestamp)
        /// Something that was written will be due then.
        case due(Timestamp)
        case claimed(OutboxClaim?)
        /// Jobs of a page were served as far as written, divided, or lost; what is left of them.
        case advanced([FanoutJob], left: [FanoutJob])
        /// All answers of a page have come in, so that there are slots; its rows are not
        /// written yet.
        case answered
        /// All answers of a page or of retries have come in and are written.
        case recorded
        case stopping
        case stopDeadline
    }

    enum Action: Sendable {
        case claim(OutboxClaim.Wish)
        case serve([FanoutJob], limit: Int)
        case sendRetries(OutboxClaim)
        /// Gives back what was taken too late to be sent.
        case putBack(OutboxClaim)
        case tick(at: Timestamp)
        case startStopClock
        case abandonBatches
        /// The last action: gives back what was not begun.
        case finish([FanoutJob])
    }

    private static let claimedAtOnce = 64
    private static let blockedSeconds = 0.2
    private static let failedSeconds = 1.0
    private static let leastSeconds = 0.02
    /// Pages of large fan-outs being read, sent or written at once: enough to
    /// keep each of these busy.
    private static let bulkPages = 8
    private let settings: OutboxSettings
    private var queue = FanoutQueue()
    /// Fan-outs we hold a lease on.
    private var held = 0
    private var heldUrgent = 0
    /// Pages and retries under way.
    private var batches = 0
    private var bulkUnderWay = 0
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
    /// Slots in `available` are counted down as pages are started.
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
        case .advanced(let served, let left):
            hold(served, -1)
            if served.first?.isFresh == false { bulkUnderWay -= 1 }
            enqueue(left)
        case .answered: break
        case .recorded: batches -= 1
        case .stopping:
            isStopping = true
            actions.append(.startStopClock)
        case .stopDeadline: actions.append(.abandonBatches)
        }
    }

    private mutating func take(_ claim: OutboxClaim?, now: Timestamp, _ actions: inout [Action]) {
        guard let claim else {
            due = now.adding(seconds: Self.failedSeconds)
            return
        }
        enqueue(claim.jobs)
        if !claim.retries.isEmpty {
            batches += 1
            actions.append(isStopping ? .putBack(claim) : .sendRetries(claim))
        }
        // What was written since the claim looked is due as well; a moment too many costs one look.
        due = [due.flatMap { $0 > now ? $0 : nil }, claim.nextDue].compactMap(\.self).min()
        mayHaveWork = mayHaveWork || claim.mayHaveMore
    }

    private mutating func enqueue(_ jobs: [FanoutJob]) {
        hold(jobs, 1)
        for job in jobs { queue.append(job) }
    }

    private mutating func hold(_ jobs: [FanoutJob], _ sign: Int) {
        held += sign * jobs.count
        heldUrgent += sign * jobs.count { $0.fanout.isUrgent }
    }

    private mutating func startPages(_ available: Int, _ actions: inout [Action]) {
        var slots = available
        while batches < settings.batches, slots > 0, let (jobs, limit) = nextPage(slots) {
            slots -= limit
            batches += 1
            if jobs.first?.isFresh == false { bulkUnderWay += 1 }
            actions.append(.serve(jobs, limit: limit))
        }
    }

    /// The jobs that share the next page: small ones together, the rest of a large one alone.
    ///
    /// An eighth of all slots is kept for urgent ones, and large ones wait until a page of some
    /// size can go.
    private mutating func nextPage(_ slots: Int) -> (jobs: [FanoutJob], limit: Int)? {
        let eighth = settings.inFlight / 8
        let usual = slots - eighth
        var kinds: Set<FanoutJob.Kind> = [.urgentFresh, .urgentBulk]
        if usual > 0 { kinds.insert(.fresh) }
        if bulkUnderWay < Self.bulkPages, usual >= min(settings.pageSize, max(1, eighth)) { kinds.insert(.bulk) }
        guard let first = queue.popFirst(kinds) else { return nil }
        var jobs = [first]
        while first.isFresh, jobs.count < settings.jobsAPage, let next = queue.popFirst([first.kind]) {
            jobs.append(next)
        }
        let wanted = jobs.reduce(0) { $0 + $1.pageLimit(settings) }
        return (jobs, min(wanted, settings.pageSize, first.fanout.isUrgent ? slots : usual))
    }

    private mutating func startClaim(_ available: Int, _ actions: inout [Action]) {
        guard mayHaveWork, !isClaiming, let wish = wish(available) else { return }
        (mayHaveWork, isClaiming) = (false, true)
        actions.append(.claim(wish))
    }

    /// Urgent fan-outs have slots of their own, so that no number of others keeps them from
    /// being claimed.
    private func wish(_ available: Int) -> OutboxClaim.Wish? {
        let wish = OutboxClaim.Wish(
            urgent: max(0, min(Self.claimedAtOnce, settings.heldFanouts / 4 - heldUrgent)),
            fanouts: max(0, min(Self.claimedAtOnce, settings.heldFanouts - held)),
            // More than there are slots, so that what cannot go does not hide what can.
            deliveries: batches < settings.batches && available > 0 ? settings.pageSize : 0
        )
        return wish.urgent + wish.fanouts + wish.deliveries > 0 ? wish : nil
    }

    /// One alarm is set for the earliest moment; earlier ones may be added, later ones
    /// are left to ring in vain.
    private mutating func planTick(_ now: Timestamp, _ available: Int, _ actions: inout [Action]) {
        guard !isClaiming else { return }
        let isBlocked = mayHaveWork || queue.count > 0
        let wanted = isBlocked ? now.adding(seconds: Self.blockedSeconds) : due
        let latest = now.adding(seconds: settings.pollSeconds)
        let moment = max(now.adding(seconds: Self.leastSeconds), min(wanted ?? latest, latest))
        if let ticking, ticking <= moment { return }
        ticking = moment
        actions.append(.tick(at: moment))
    }

    private mutating func finishing() -> [Action] {
        guard batches == 0, !isClaiming else { return [] }
        var left: [FanoutJob] = []
        while let job = queue.popFirst() { left.append(job) }
        return [.finish(left)]
    }
}

/// Fan-outs that wait for their next page: kinds share the turns, and within
/// a kind topics take turns.
struct FanoutQueue: Sendable {
    /// Jobs of one kind, by topic.
    private struct Ring: Sendable {
        /// Topics in the order of their turns; those before `head` have had theirs.
        private var order: [TopicID] = []
        private var head = 0
        private var jobs: [TopicID: [FanoutJob]] = [:]

        mutating func append(_ job: FanoutJob) {
            let topic = job.fanout.topicID
            if jobs[topic] == nil { order.append(topic) }
            jobs[topic, default: []].append(job)
        }

        mutating func popFirst() -> FanoutJob? {
            guard head < order.count else { return nil }
            let topic = order[head]
            head += 1
            if head > 64, head > order.count / 2 {
                order.removeFirst(head)
                head = 0
            }
            guard var waiting = jobs.removeValue(forKey: topic), !waiting.isEmpty else { return nil }
            let job = waiting.removeFirst()
            if !waiting.isEmpty {
                jobs[topic] = waiting
                order.append(topic)
            }
            return job
        }
    }

    /// Who goes first at each turn; whoever is next in the list goes when it has nothing.
    private static let turns: [[FanoutJob.Kind]] = [
        [.urgentFresh, .urgentBulk, .fresh, .bulk], [.urgentFresh, .urgentBulk, .bulk, .fresh],
        [.urgentFresh, .urgentBulk, .fresh, .bulk], [.fresh, .bulk, .urgentFresh, .urgentBulk],
        [.urgentFresh, .urgentBulk, .fresh, .bulk], [.urgentFresh, .urgentBulk, .bulk, .fresh],
        [.urgentFresh, .urgentBulk, .fresh, .bulk], [.bulk, .fresh, .urgentFresh, .urgentBulk],
    ]
    private var rings: [FanoutJob.Kind: Ring] = [:]
    private var turn = 0
    private(set) var count = 0

    mutating func append(_ job: FanoutJob) {
        count += 1
        rings[job.kind, default: Ring()].append(job)
    }

    /// The next job, among these kinds.
    mutating func popFirst(_ kinds: Set<FanoutJob.Kind> = Set(FanoutJob.Kind.allCases)) -> FanoutJob? {
        guard count > 0 else { return nil }
        turn = (turn + 1) % Self.turns.count
        for kind in Self.turns[turn] where kinds.contains(kind) {
            guard let job = rings[kind]?.popFirst() else { continue }
            count -= 1
            return job
        }
        return nil
    }
}
