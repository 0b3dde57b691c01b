package import TocsinCore
import Synchronization

/// What people who run the server are told of webhooks; never bodies.
package enum WebhookReport: Sendable, Hashable {
    case retrying(String, WebhookEventType, WebhookEventID, reason: String, attempts: Int)
    /// Given up; it can be sent again by hand.
    case dead(String, WebhookEventType, WebhookEventID, reason: String)
    case storeFailed(StoreError)
}

/// Tells webhooks what has happened, each on a lane of its own, until they have
/// heard it or it is given up.
package final class WebhookWorker: Sendable {
    private let lanes: [WebhookLane]
    private let time: any TimeSource
    private let doorbells: [AsyncStream<Void>]
    private let ringers: [AsyncStream<Void>.Continuation]

    private static let longestPauseSeconds = 60.0
    /// Others may have made events due again: a command, another node.
    private static let pollSeconds = 30.0

    /// - Parameters:
    ///   - webhooks: One lane each, by name; a reload may change the rest of them.
    ///   - policy: The push schedule, and how long an event is tried.
    package init(
        webhooks reloadable: Reloadable<[Webhook]>,
        environment: ServiceEnvironment,
        http: any OutgoingHTTP,
        policy: RetryPolicy = RetryPolicy(),
        metrics: PushMetrics = PushMetrics(),
        report: @escaping @Sendable (WebhookReport) -> Void
    ) {
        let webhooks = reloadable.value
        lanes = webhooks.map {
            WebhookLane(
                name: $0.name,
                webhooks: reloadable,
                store: environment.store,
                http: http,
                time: environment.time,
                identifiers: environment.identifiers,
                policy: policy,
                metrics: metrics.webhooks,
                report: report
            )
        }
        time = environment.time
        let pairs = webhooks.map { _ in AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }
        doorbells = pairs.map(\.stream)
        ringers = pairs.map(\.continuation)
    }

    /// Says that there may be events; never waits, and may be called from any thread.
    package func wake() {
        for ringer in ringers { ringer.yield() }
    }

    /// Asks `run` to return once what is under way has its outcome.
    package func stop() {
        for ringer in ringers { ringer.finish() }
    }

    /// Works until it is stopped or the task is cancelled; to be called once.
    package func run() async {
        guard !lanes.isEmpty else { return }
        wake()
        // The attempts under way must outlive the cancellation that asks for the end, so they
        // run in a task of its own.
        let work = Task {
            await withDiscardingTaskGroup { group in
                for (lane, doorbell) in zip(self.lanes, zip(self.doorbells, self.ringers)) {
                    group.addTask { await self.work(lane, doorbell.0, doorbell.1) }
                }
            }
        }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            stop()
        }
    }

    private func work(_ lane: WebhookLane, _ doorbell: AsyncStream<Void>, _ ringer: AsyncStream<Void>.Continuation)
        async
    {
        await withDiscardingTaskGroup { alarms in
            var pause: Double?
            var notBefore = Timestamp(milliseconds: 0)
            var ringing: Timestamp?
            for await _ in doorbell {
                let now = time.now()
                // A database's clock may have been moved back since its alarm rang: one too
                // many is better than none.
                if let set = ringing, set <= now.adding(seconds: 1) { ringing = nil }
                var next = notBefore
                if now >= notBefore {
                    let turn = await lane.turn(isProbe: pause != nil)
                    if turn.isBlocked {
                        pause = min(Self.longestPauseSeconds, (pause ?? 0.5) * 2)
                        notBefore = time.now().adding(seconds: pause ?? 1)
                    } else if !turn.isIdle {
                        pause = nil
                    }
                    if turn.hasMore, pause == nil { ringer.yield() }
                    let poll = time.now().adding(seconds: Self.pollSeconds)
                    next = max(notBefore, turn.due.map { min($0, poll) } ?? poll)
                }
                guard ringing.map({ next < $0 }) ?? true else { continue }
                ringing = next
                let (moment, time) = (next, time)
                alarms.addTask {
                    // Cancelled, because the lane has ended.
                    guard (try? await time.sleep(until: moment)) != nil else { return }
                    ringer.yield()
                }
            }
            alarms.cancelAll()
        }
    }
}
