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
