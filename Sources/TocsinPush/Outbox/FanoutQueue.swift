import TocsinCore

/// Fan-outs that wait for their next page: topics take turns, urgent messages have three turns of four.
struct FanoutQueue: Sendable {
    /// Jobs of one urgency, by topic.
    private struct Ring: Sendable {
        var order: [TopicID] = []
        var jobs: [TopicID: [FanoutJob]] = [:]

        mutating func append(_ job: FanoutJob) {
            let topic = job.fanout.topicID
            if jobs[topic] == nil { order.append(topic) }
            jobs[topic, default: []].append(job)
        }

        mutating func popFirst() -> FanoutJob? {
            guard !order.isEmpty else { return nil }
            let topic = order.removeFirst()
            guard var waiting = jobs.removeValue(forKey: topic), !waiting.isEmpty else { return nil }
            let job = waiting.removeFirst()
            if !waiting.isEmpty {
                jobs[topic] = waiting
                order.append(topic)
            }
            return job
        }
    }

    private var urgent = Ring()
    private var usual = Ring()
    private var turn = 0
    private(set) var count = 0

    mutating func append(_ job: FanoutJob) {
        count += 1
        if job.isUrgent { urgent.append(job) } else { usual.append(job) }
    }

    mutating func popFirst() -> FanoutJob? {
        guard count > 0 else { return nil }
        count -= 1
        turn = (turn + 1) % 4
        if turn == 0 { return usual.popFirst() ?? urgent.popFirst() }
        return urgent.popFirst() ?? usual.popFirst()
    }
}
