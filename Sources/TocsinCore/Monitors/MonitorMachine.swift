/// Decides how a monitor stands after a ping, a moment, or what people do: a pure function.
package struct MonitorMachine: Sendable {
    /// By what it judges.
    package let rules: MonitorRules
    /// The least time that is given when nothing could arrive.
    package static let leastForgivenSeconds: Int64 = 60

    /// A machine of these rules.
    package init(_ rules: MonitorRules) { self.rules = rules }

    /// Takes a ping.
    ///
    /// - Parameter next: When a success is due that is counted from now.
    package func take(
        _ ping: MonitorPing,
        on standing: inout MonitorStanding,
        at now: Timestamp,
        next: Timestamp?
    ) -> (news: MonitorNews?, durationMilliseconds: Int64?) {
        standing.firstPingAt = standing.firstPingAt ?? now
        standing.lastPingAt = now
        guard ping.signal != .log else { return (nil, nil) }
        if standing.state == .paused {
            guard standing.pausedUntil.map({ $0 <= now }) ?? true else { return (nil, nil) }
            resume(&standing, next: next)
        }
        switch ping.signal {
        case .success: return succeed(ping, &standing, now, next)
        case .start:
            start(ping, &standing, now, next)
            return (nil, nil)
        case .fail: return fail(ping, &standing, now, next)
        case .log: return (nil, nil)
        }
    }

    /// Looks at what has not come.
    package func pass(_ standing: inout MonitorStanding, at now: Timestamp, next: Timestamp?) -> MonitorNews? {
        switch standing.state {
        case .new, .down: return nil
        case .paused:
            if let until = standing.pausedUntil, until <= now { resume(&standing, next: next) }
            return nil
        case .up, .running, .late:
            if let deadline = deadline(of: standing), deadline <= now {
                let reason: MonitorNews.Reason =
                    standing.run.map { .endless(since: $0.startedAt) } ?? .silence(since: standing.lastSuccessAt)
                goDown(&standing)
                return .down(reason)
            }
            if standing.state == .up, let due = standing.dueAt, due <= now { standing.state = .late }
            return nil
        }
    }

    /// Watches no more until a moment, or without one until the next ping.
    package func pause(
        _ standing: inout MonitorStanding,
        until end: Timestamp?,
        at now: Timestamp,
        next: Timestamp?
    ) -> MonitorNews? {
        if let end, end <= now {
            if standing.state == .paused { resume(&standing, next: next) }
            return nil
        }
        let news: MonitorNews? = standing.state == .down ? .unwatched : nil
        (standing.state, standing.pausedUntil, standing.run) = (.paused, end, nil)
        (standing.dueAt, standing.forgivenUntil) = (nil, nil)
        (standing.failures, standing.successes) = (0, 0)
        return news
    }

    /// Goes by another schedule or by other rules from now on.
    package func reschedule(_ standing: inout MonitorStanding, next: Timestamp?) {
        guard [.up, .running, .late].contains(standing.state) else { return }
        standing.dueAt = next
        standing.forgivenUntil = nil
        if standing.state == .late { standing.state = .up }
    }

    /// Gives what fell due while nothing could arrive as much time again as its grace has.
    package func forgive(_ standing: inout MonitorStanding, from start: Timestamp, to end: Timestamp) {
        guard let deadline = deadline(of: standing), deadline > start, deadline <= end else { return }
        standing.forgivenUntil = end.adding(seconds: Double(max(rules.graceSeconds, Self.leastForgivenSeconds)))
    }

    /// When to look again whatever comes; nil: only a ping changes something.
    package func nextLook(at standing: MonitorStanding) -> Timestamp? {
        switch standing.state {
        case .new, .down: nil
        case .paused: standing.pausedUntil
        case .up: [standing.dueAt, deadline(of: standing)].compactMap(\.self).min()
        case .running, .late: deadline(of: standing)
        }
    }

    /// When it goes down if nothing comes.
    private func deadline(of standing: MonitorStanding) -> Timestamp? {
        let missed = standing.dueAt?.adding(seconds: Double(rules.graceSeconds))
        let deadline: Timestamp?
        switch standing.state {
        case .new, .down, .paused: return nil
        case .up, .late: deadline = missed
        case .running:
            let run = Double(rules.maximumRunSeconds)
            // Starting again and again is no end.
            let ends = [standing.run?.startedAt.adding(seconds: run), missed?.adding(seconds: run)]
            deadline = ends.compactMap(\.self).min()
        }
        guard let deadline else { return nil }
        return standing.forgivenUntil.map { max($0, deadline) } ?? deadline
    }

    private func resume(_ standing: inout MonitorStanding, next: Timestamp?) {
        standing.state = standing.firstPingAt == nil ? .new : .up
        standing.pausedUntil = nil
        standing.dueAt = standing.state == .new ? nil : next
    }

    private func start(
        _ ping: MonitorPing,
        _ standing: inout MonitorStanding,
        _ now: Timestamp,
        _ next: Timestamp?
    ) {
        if standing.state == .new { standing.dueAt = next }
        standing.run = MonitorStanding.Run(startedAt: now, id: ping.runID)
        standing.lastStartAt = now
        if standing.state != .down { standing.state = .running }
    }

    /// Ends the run that a ping is the end of; answers how long it took, where that is known.
    private func end(
        _ ping: MonitorPing,
        _ standing: inout MonitorStanding,
        _ now: Timestamp
    ) -> Int64? {
        guard let run = standing.run else { return nil }
        // The end of another run leaves this one going.
        guard run.id == ping.runID || run.id == nil || ping.runID == nil else { return nil }
        standing.run = nil
        guard run.id == ping.runID else { return nil }
        let duration = max(0, now.milliseconds - run.startedAt.milliseconds)
        standing.lastDurationMilliseconds = duration
        return duration
    }

    private func succeed(
        _ ping: MonitorPing,
        _ standing: inout MonitorStanding,
        _ now: Timestamp,
        _ next: Timestamp?
    ) -> (MonitorNews?, Int64?) {
        let duration = end(ping, &standing, now)
        standing.lastSuccessAt = now
        (standing.failures, standing.successes) = (0, standing.successes + 1)
        if standing.state == .down, standing.successes < rules.successes { return (nil, duration) }
        let wasDown = standing.state == .down
        standing.state = standing.run == nil ? .up : .running
        (standing.dueAt, standing.forgivenUntil) = (next, nil)
        return (wasDown ? .up : nil, duration)
    }

    private func fail(
        _ ping: MonitorPing,
        _ standing: inout MonitorStanding,
        _ now: Timestamp,
        _ next: Timestamp?
    ) -> (MonitorNews?, Int64?) {
        let duration = end(ping, &standing, now)
        (standing.failures, standing.successes) = (standing.failures + 1, 0)
        if standing.state == .down || standing.failures >= rules.failures {
            goDown(&standing)
            return (.down(.failure(exitStatus: ping.exitStatus, text: ping.text)), duration)
        }
        standing.dueAt = standing.dueAt ?? next
        if standing.state == .new || standing.run == nil && standing.state == .running { standing.state = .up }
        return (nil, duration)
    }

    private func goDown(_ standing: inout MonitorStanding) {
        (standing.state, standing.successes) = (.down, 0)
        (standing.run, standing.forgivenUntil) = (nil, nil)
    }
}
