import TocsinCore

/// Fan-outs that wait for their next page: kinds share the turns, and within a kind topics take turns.
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

/// A claimed fan-out with its message.
struct FanoutJob: Sendable, Hashable {
    /// How jobs share the outbox.
    enum Kind: Sendable, Hashable, CaseIterable {
        /// Nothing of it has been served yet; nearly always its first page is all there is.
        case urgentFresh, fresh
        /// The rest of a large one.
        case urgentBulk, bulk
    }

    var fanout: Fanout
    var message: LoadedMessage
    /// What its pushes are judged by; nil when there is nothing to send.
    var subject: PushSubject?
    var pages = 0
    /// Whether it is a part of a divided fan-out.
    var isDivided: Bool

    init(fanout: Fanout, message: LoadedMessage, subject: PushSubject? = nil) {
        self.fanout = fanout
        self.message = message
        self.subject = subject
        isDivided = !fanout.firstDevice.isEmpty || !fanout.lastDevice.isEmpty
    }

    var kind: Kind {
        if pages == 0 && !isDivided { return fanout.isUrgent ? .urgentFresh : .fresh }
        return fanout.isUrgent ? .urgentBulk : .bulk
    }

    /// Whether it shares a page with others.
    var isFresh: Bool { kind == .fresh || kind == .urgentFresh }

    /// Devices of its next page at most: few at first, because most fan-outs are small.
    func pageLimit(_ settings: OutboxSettings) -> Int {
        isFresh ? min(settings.firstPageSize, settings.pageSize) : settings.pageSize
    }

    /// The job after a page.
    func advanced(to nextDevice: String, leaseUntil: Timestamp) -> FanoutJob {
        var next = self
        next.fanout.nextDevice = nextDevice
        next.fanout.leaseUntil = leaseUntil
        next.pages += 1
        return next
    }

    /// A part of the job.
    func part(_ fanout: Fanout) -> FanoutJob {
        var part = self
        part.fanout = fanout
        part.isDivided = true
        return part
    }
}

extension FanoutJob {
    /// The rows of members who have no device to send to, so that they are not missing without
    /// a word.
    func outcomesWithoutDevice(_ reader: any StoreReader, now: Timestamp) throws(StoreError) -> [Delivery] {
        guard case .payload = message, fanout.firstDevice.isEmpty else { return [] }
        return try reader.membersWithoutDevice(of: fanout).map { user in
            Delivery.withoutDevice(fanout.messageID, to: user, at: now)
        }
    }
}
