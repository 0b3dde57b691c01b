import Metrics
import TocsinCore

/// Writes a batch's outcomes down, as they come in, and reports them.
struct OutcomeRecorder: Sendable {
    let batch: SendBatch
    private var context: OutboxContext { batch.context }

    init(_ batch: SendBatch) {
        self.batch = batch
    }

    /// Entries with a fate, each with its row, and those without.
    struct Settled: Sendable {
        var rows: [SettledEntry]
        /// The rows' indices in the batch.
        var indices: [Int]
        var open: [Int]
    }

    /// The rows of those among `indices` that have a fate, and the rest.
    func settle(_ indices: [Int]) -> Settled {
        var known: [Int] = []
        var settled: [OutcomeRules.Case] = []
        var open: [Int] = []
        for index in indices {
            if let fate = batch.fate(index) {
                let entry = batch.entries[index]
                settled.append(OutcomeRules.Case(entry: entry, fate: fate, deadline: batch.deadline(of: entry)))
                known.append(index)
            } else {
                open.append(index)
            }
        }
        let rules = OutcomeRules(
            now: context.time.now(),
            policy: context.settings.retry,
            breakers: context.breakers,
            identifiers: context.identifiers,
            sentAt: batch.startedAt
        )
        let (rows, changes) = rules.settle(settled)
        for change in changes {
            switch change.change {
            case .paused(let reason, let cause):
                context.metrics.pauses[LabelPair(change.lane.service, cause)].add()
                context.report(.providerPaused(change.lane, reason: reason))
            case .resumed: context.report(.providerResumed(change.lane))
            case .slowed(let perSecond): context.report(.providerSlowed(change.lane, perSecond: perSecond))
            }
        }
        let abandoned = settled.count { $0.fate == .abandoned }
        if abandoned > 0 { context.report(.stoppedUnanswered(count: abandoned)) }
        return Settled(rows: zip(rows, known).map(unlessCancelled), indices: known, open: open)
    }

    /// What would be tried again, and is not to be sent any more since, is final for that reason.
    private func unlessCancelled(_ row: SettledEntry, at index: Int) -> SettledEntry {
        guard row.delivery.status == .waiting, let reason = batch.cancellation(index) else { return row }
        var ended = row
        (ended.delivery.status, ended.delivery.reason) = (reason.isWish ? .skipped : .ended, reason)
        ended.delivery.nextAttemptAt = nil
        return ended
    }

    /// A row for a push whose answer is still awaited, under a lease of its own.
    func underWay(_ index: Int, lease: Timestamp) -> Delivery {
        var delivery = batch.entries[index].delivery
        delivery.status = .sending
        delivery.leaseUntil = lease
        delivery.nextAttemptAt = nil
        delivery.updatedAt = context.time.now()
        return delivery
    }

    /// Retires devices and chooses their rows, and notes what was learnt of others; runs inside a
    /// write, before the rows are written.
    static func retiring(
        _ rows: [SettledEntry],
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [SettledEntry] {
        var chosen = rows
        for (index, row) in rows.enumerated() {
            if let side = row.learnedEnvironment { try writer.learnEnvironment(side, of: row.delivery.deviceID) }
            chosen[index].restored = []
            for restored in row.restored
            where try restore(restored, now: row.delivery.updatedAt, environment, writer) {
                chosen[index].restored.append(restored)
            }
            guard let retirement = row.retirement else { continue }
            let device = row.delivery.deviceID
            let isRetired = try writer.retireDevice(
                device,
                reason: retirement.reason,
                registeredBy: retirement.registeredBy
            )
            guard !isRetired else {
                try tell(environment, writer, of: device) {
                    environment.audit(endOf: $0, by: .server, reason: retirement.reason)
                } raising: {
                    .unregistered($0, reason: retirement.reason)
                }
                continue
            }
            chosen[index].retirement = nil
            if try writer.devices(ids: [device]).first?.isActive == true {
                chosen[index].delivery = retirement.deliveryIfKept
            }
        }
        return chosen
    }

    /// Takes back that a device was retired for a token that fits nothing, when it turns out that
    /// no token fits; false where it was not retired so any more.
    private static func restore(
        _ delivery: Delivery,
        now: Timestamp,
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Bool {
        for reason in DeliveryReason.wrongTokens
        where try writer.restore(delivery, endedFor: reason, now: now) {
            try tell(environment, writer, of: delivery.deviceID) {
                environment.audit(returnOf: $0)
            } raising: {
                .registered($0)
            }
            return true
        }
        return false
    }

    /// Sees to it that what is held is let go; runs inside a write, with the rows.
    static func setQuietEnds(of rows: [SettledEntry], _ writer: any StoreWriter) throws(StoreError) {
        var ends: [String: TimerEntry] = [:]
        for timer in rows.compactMap(\.quietEnd) { ends[timer.subject] = timer }
        for timer in ends.values.sorted(by: { $0.subject < $1.subject }) { try writer.setUnlessThere(timer) }
    }

    /// Notes and tells webhooks of a device that a provider has ended, or that is taken back.
    private static func tell(
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter,
        of id: DeviceID,
        _ event: (Device) -> AuditEvent,
        raising occurrence: (Device) -> WebhookOccurrence
    ) throws(StoreError) {
        guard let device = try writer.devices(ids: [id]).first else { return }
        try writer.record(event(device))
        try environment.raise(occurrence(device), writer)
    }

    /// Ends what else waits for retired devices; runs inside a write, after the rows are written.
    static func endOthers(of rows: [SettledEntry], _ writer: any StoreWriter) throws(StoreError) {
        for row in rows {
            guard let retirement = row.retirement else { continue }
            try writer.endDeliveries(
                of: row.delivery.deviceID,
                reason: retirement.reason,
                now: row.delivery.updatedAt
            )
        }
    }

    /// Waits for the answers to pushes whose rows stand as `sending`, recording them and
    /// renewing the leases of the rest.
    func follow(_ indices: [Int], lease firstLease: Timestamp, patience: Timestamp? = nil) async {
        var (open, lease, moment) = (indices, firstLease, patience)
        while !open.isEmpty {
            let half = context.time.now().adding(seconds: context.settings.leaseSeconds / 2)
            await batch.wait(until: moment ?? half)
            moment = nil
            let settled = settle(open)
            batch.markStalled(settled.open)
            let renewed = context.time.now().adding(seconds: context.settings.leaseSeconds)
            let renewals = settled.open.map { underWay($0, lease: renewed) }
            guard let ours = await record(settled.rows, renewals, held: lease) else { return }
            (open, lease) = (zip(settled.open, ours).compactMap { $1 ? $0 : nil }, renewed)
        }
    }

    /// Writes what is still ours: a newer holder's rows and devices are left alone.
    ///
    /// Answers which of the renewals are ours, or nil if nothing could be written.
    private func record(_ rows: [SettledEntry], _ renewals: [Delivery], held lease: Timestamp) async -> [Bool]? {
        let (settings, environment) = (context.settings, context.environment)
        let written = await context.writing(until: lease) { writer throws(StoreError) in
            var ours: [SettledEntry] = []
            for row in rows {
                if row.changesDevices, try !Self.isHeld(row, lease, writer) { continue }
                let chosen = try Self.retiring([row], environment, writer)
                guard let first = chosen.first, try writer.record(first.delivery, heldUntil: lease) else { continue }
                if settings.wantsNotes { writer.note(.deliveryChanged(first.delivery)) }
                ours.append(first)
            }
            try Self.setQuietEnds(of: ours, writer)
            try Self.endOthers(of: ours, writer)
            var areRenewed: [Bool] = []
            for renewal in renewals { areRenewed.append(try writer.record(renewal, heldUntil: lease)) }
            return (ours, areRenewed)
        }
        guard let written else { return nil }
        report(written.0)
        await IncidentPushes.repeatNewest(after: written.0, of: batch)
        return written.1
    }

    /// Whether the row still stands under the lease.
    private static func isHeld(
        _ row: SettledEntry,
        _ lease: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Bool {
        var sending = row.delivery
        sending.status = .sending
        sending.leaseUntil = lease
        return try writer.record(sending, heldUntil: lease)
    }

    private func count(_ row: SettledEntry) {
        let (delivery, commits) = (row.delivery, context.environment.metrics)
        switch delivery.status {
        case .waiting, .sending: break
        case .accepted, .failed, .ended, .expired, .skipped:
            let reason = delivery.status == .accepted ? nil : delivery.reason
            context.metrics[row.service].note(delivery.status, reason)
        }
        if row.retirement != nil { commits.note(.ended) }
        if !row.restored.isEmpty { commits.note(.revived, row.restored.count) }
    }

    /// Tells what was written.
    func report(_ rows: [SettledEntry]) {
        var counts: [PushService: [DeliveryStatus: Int]] = [:]
        for row in rows {
            let delivery = row.delivery
            let service = row.service
            if let tokenHash = context.tokenHash {
                context.report(.delivery(delivery, service, tokenHash: tokenHash(row.token)))
            }
            counts[service, default: [:]][delivery.status, default: 0] += 1
            count(row)
            if let retirement = row.retirement {
                context.report(.deviceRetired(delivery, reason: retirement.reason))
            } else if delivery.status == .failed {
                context.report(.payloadRefused(service, delivery))
            } else if delivery.status == .waiting, let reason = delivery.reason, reason.isThirdPartyTrouble,
                context.breakers.mayTellOfTrouble(service, now: context.time.now())
            {
                context.report(.credentialTrouble(service, reason: reason, delivery))
            }
        }
        if let due = rows.compactMap(\.delivery.nextAttemptAt).min() { context.noteDue(due) }
        for (service, states) in counts {
            for (status, count) in states { context.report(.settled(service, status, count: count)) }
        }
    }
}
