package import Metrics
import Synchronization
package import TocsinCore

/// Brings committed messages to devices: claims fan-outs and due deliveries, sends them in
/// pages, records every outcome.
package final class OutboxWorker: Sendable {
    let context: OutboxContext
    private let events: AsyncStream<OutboxSchedule.Event>
    private let inbox: AsyncStream<OutboxSchedule.Event>.Continuation
    /// Whether a wake-up waits in the inbox already.
    private let isWoken = Atomic(false)

    /// A worker over providers that have credentials; deliveries to others are recorded as skipped.
    ///
    /// - Parameters:
    ///   - messages: The `Message` model.
    ///   - topics: The `Topic` model.
    ///   - content: What pushes show beside the message itself.
    ///   - tokenHash: The keyed hash of a token, where every delivery is to be reported.
    package init(
        environment: ServiceEnvironment,
        providers: PushProviders,
        messages: ModelType,
        topics: ModelType,
        settings: OutboxSettings = OutboxSettings(),
        content: PushContent = PushContent(),
        tokenHash: (@Sendable (_ token: String) -> String)? = nil,
        metrics: PushMetrics = PushMetrics(),
        report: @escaping PushReporting
    ) {
        let (events, inbox) = AsyncStream.makeStream(of: OutboxSchedule.Event.self)
        (self.events, self.inbox) = (events, inbox)
        context = OutboxContext(
            environment: environment,
            reloadable: Reloadable(OutboxWays(providers: providers, content: content)),
            messages: messages,
            topics: topics,
            rights: PushRights(
                topics: topics,
                messages: messages,
                requiresSignIn: environment.pushesRequireSignIn,
                claimedGroups: environment.claimedGroups
            ),
            zones: environment.zones,
            settings: settings,
            report: report,
            tokenHash: tokenHash,
            metrics: metrics,
            breakers: CircuitBreakers(),
            inFlight: InFlightLimiter(limit: settings.inFlight),
            quotas: ProjectQuotas(perMinute: settings.fcmPerMinute, rampSeconds: settings.fcmRampSeconds),
            openResults: OpenResults(),
            cancellations: Cancellations(),
            noteDue: { inbox.yield(.due($0)) }
        )
    }

    /// Says that there may be work; never waits, and may be called from any thread at any time.
    package func wake() {
        guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
        inbox.yield(.woken)
    }

    /// Sends by these providers from now on, with this content; orders under way go on as they
    /// began.
    package func replace(_ providers: PushProviders, content: PushContent, fcmPerMinute: Int) {
        context.reloadable.replace(with: OutboxWays(providers: providers, content: content))
        context.quotas.set(perMinute: fcmPerMinute)
        wake()
    }

    /// Says that a device was signed out: what was claimed for it and has not left is not sent.
    ///
    /// May be called from any thread.
    package func cancelPushes(to device: DeviceID, reason: DeliveryReason) {
        context.cancellations.add(device, reason, now: context.time.now())
    }

    /// Says that a user wants no pushes any more, of a topic or of all: what was claimed for them
    /// and has not left is not sent.
    ///
    /// May be called from any thread, once what the user wants can be read.
    package func cancelPushes(to user: UserID, of topic: TopicID?, reason: DeliveryReason) {
        context.cancellations.add(user, topic, reason, now: context.time.now())
    }

    /// Says that an incident was answered: what was claimed of its loud messages up to this number
    /// and has not left is not sent.
    ///
    /// May be called from any thread.
    package func cancelPushes(of incident: String, upTo number: MessageNumber) {
        context.cancellations.add(answered: incident, upTo: number, now: context.time.now())
    }

    /// Asks `run` to stop, as cancelling its task does.
    package func stop() {
        inbox.yield(.stopping)
    }

    /// Works until it is stopped or the task is cancelled.
    ///
    /// Then it claims nothing more, gives pushes under way their time, puts back what has
    /// no answer, gives back its leases, and returns. To be called once.
    package func run() async {
        for service in PushService.allCases where !context.providers.has(service) {
            context.report(.providerNotConfigured(service))
        }
        // The work must outlive the cancellation that asks it to stop, so it runs in a task
        // of its own, awaited here.
        let work = Task { await self.work() }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            stop()
        }
    }

    private func work() async {
        await withDiscardingTaskGroup { group in
            var schedule = OutboxSchedule(settings: context.settings)
            inbox.yield(.woken)
            for await event in events {
                if case .woken = event { isWoken.store(false, ordering: .releasing) }
                let actions = schedule.handle(event, now: context.time.now(), available: context.inFlight.available)
                for action in actions {
                    if case .finish(let jobs) = action {
                        group.cancelAll()
                        await giveBack(jobs)
                        return
                    }
                    perform(action, in: &group)
                }
            }
        }
    }

    private func perform(_ action: OutboxSchedule.Action, in group: inout DiscardingTaskGroup) {
        let (context, inbox) = (context, inbox)
        switch action {
        case .claim(let wish):
            group.addTask { inbox.yield(.claimed(await OutboxClaim.take(wish, context))) }
        case .serve(let jobs, let limit):
            context.inFlight.reserve(limit)
            group.addTask {
                await FanoutPage(context: context, jobs: jobs, limit: limit) { inbox.yield($0) }.serve()
                inbox.yield(.recorded)
            }
        case .sendRetries(let claim):
            group.addTask {
                await Self.sendRetries(of: claim, context)
                inbox.yield(.recorded)
            }
        case .putBack(let claim):
            group.addTask {
                await OutboxClaim.giveBack([], claim, context)
                inbox.yield(.recorded)
            }
        case .tick(let moment):
            group.addTask { await Self.ring(.ticked(moment), at: moment, context, inbox) }
        case .startStopClock:
            let moment = context.time.now().adding(seconds: context.settings.stopSeconds)
            group.addTask { await Self.ring(.stopDeadline, at: moment, context, inbox) }
        case .abandonBatches:
            context.openResults.abandonAll()
        case .finish:
            break
        }
    }

    /// Rings unless it is cancelled first.
    private static func ring(
        _ event: OutboxSchedule.Event,
        at moment: Timestamp,
        _ context: OutboxContext,
        _ inbox: AsyncStream<OutboxSchedule.Event>.Continuation
    ) async {
        do {
            try await context.time.sleep(until: moment)
            inbox.yield(event)
        } catch {
            // The worker has ended.
        }
    }

    private static func sendRetries(of claim: OutboxClaim, _ context: OutboxContext) async {
        var lanes = LaneNames(context)
        let entries = claim.retries.map { retry in
            OutboxEntry(
                device: retry.device,
                delivery: retry.delivery,
                lane: lanes.lane(of: retry.device),
                heardWishes: claim.heardWishes
            )
        }
        let batch = SendBatch(context, entries, claim.messages)
        let patience = context.time.now().adding(seconds: context.settings.pagePatienceSeconds)
        await OutcomeRecorder(batch).follow(Array(entries.indices), lease: claim.lease, patience: patience)
        batch.end()
    }

    /// Leases that end now let others go on at once.
    private func giveBack(_ jobs: [FanoutJob]) async {
        guard !jobs.isEmpty else { return }
        let now = context.time.now()
        _ = await context.writing(until: now) { writer throws(StoreError) in
            for job in jobs { _ = try writer.advance(job.fanout, nextDevice: job.fanout.nextDevice, leaseUntil: now) }
        }
    }
}

// How a push would fare, for explanations of deliveries.
extension OutboxWorker: PushForecast {
    /// How a push to the device would fare now, by credentials and pauses.
    package func outlook(of device: Device) -> PushOutlook {
        guard let lane = context.providers.lane(of: device) else {
            return .unreachable(context.providers.obstacle(to: device))
        }
        let way = PushOutlook.Way(
            service: lane.service.rawValue,
            app: lane.appID.isEmpty ? lane.app : lane.appID,
            environment: lane.environment
        )
        let now = context.time.now()
        guard let pause = context.breakers.pause(of: lane, now: now) else { return .open(way) }
        return .paused(way, reason: pause.reason, until: pause.until)
    }

    /// Whether the device was last seen longer ago than the settings allow.
    package func isStale(_ device: Device, now: Timestamp) -> Bool {
        context.settings.staleSeconds.map { device.lastSeenAt.adding(seconds: $0) < now } ?? false
    }

    /// When a message of this age and `expiresAt` is given up.
    package func deadline(of message: Record) -> Timestamp {
        PushPayload(message: message, topic: nil).deadline(lifetimeSeconds: context.settings.retry.lifetimeSeconds)
    }
}

// What is under way.
extension OutboxWorker: MetricSource {
    /// The figures of now.
    package var families: [MetricFamily] {
        let (underWay, lanes) = (context.inFlight.underWay, context.breakers.lanes)
        let share = context.inFlight.serviceShare
        return context.metrics.families + [
            .gauge("tocsin_push_in_flight", "Pushes under way on this node", by: PushService.self) {
                .integer(underWay[$0] ?? 0)
            },
            .gauge("tocsin_push_in_flight_limit", "Pushes that may be under way", by: PushService.self) { _ in
                .integer(share)
            },
            .gauge("tocsin_push_lanes", "Lanes that pushes were sent on", by: PushService.self) {
                .integer(lanes[$0]?.all ?? 0)
            },
            .gauge("tocsin_push_lanes_paused", "Lanes that are paused", by: PushService.self) {
                .integer(lanes[$0]?.paused ?? 0)
            },
        ]
    }
}
