import TocsinCore

/// Writes a flight's outcomes down, as they come in, and reports them.
struct FlightLog: Sendable {
    let flight: Flight
    private var context: OutboxContext { flight.context }

    init(_ flight: Flight) {
        self.flight = flight
    }

    /// The rows of those among `indices` that have a fate, and the rest.
    func settle(_ indices: [Int]) -> (rows: [SettledEntry], open: [Int]) {
        var settled: [(entry: OutboxEntry, fate: EntryFate)] = []
        var open: [Int] = []
        for index in indices {
            if let fate = flight.fate(index) {
                settled.append((flight.entries[index], fate))
            } else {
                open.append(index)
            }
        }
        let settlement = Settlement(
            now: context.time.now(),
            policy: context.settings.retry,
            gates: context.gates,
            identifiers: context.identifiers,
            sentAt: flight.startedAt
        )
        let (rows, changes) = settlement.settle(settled, deadlines: flight.deadlines)
        for change in changes {
            switch change.change {
            case .paused(let reason): context.report(.providerPaused(change.lane, reason: reason))
            case .resumed: context.report(.providerResumed(change.lane))
            }
        }
        let abandoned = settled.count { $0.fate == .abandoned }
        if abandoned > 0 { context.report(.stoppedUnanswered(count: abandoned)) }
        return (rows, open)
    }

    /// A row for a push whose answer is still awaited, under a lease of its own.
    func underWay(_ index: Int, lease: Timestamp) -> Delivery {
        var delivery = flight.entries[index].delivery
        delivery.status = .sending
        delivery.leaseUntil = lease
        delivery.nextAttemptAt = nil
        delivery.updatedAt = context.time.now()
        return delivery
    }

    /// Retires devices and chooses their rows; runs inside a write, before the rows are written.
    static func retiring(
        _ rows: [SettledEntry],
        _ writer: any StoreWriter
    ) throws(StoreError) -> [SettledEntry] {
        var chosen = rows
        for (index, row) in rows.enumerated() {
            guard let retirement = row.retirement else { continue }
            let device = row.delivery.deviceID
            let isRetired = try writer.retireDevice(
                device,
                reason: retirement.reason,
                registeredBy: retirement.registeredBy
            )
            guard !isRetired else { continue }
            chosen[index].retirement = nil
            if try writer.devices(ids: [device]).first?.isActive == true {
                chosen[index].delivery = retirement.deliveryIfKept
            }
        }
        return chosen
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

    /// Waits for the answers to pushes whose rows stand as `sending`, recording them and renewing the leases of the rest.
    func follow(_ indices: [Int], lease firstLease: Timestamp, patience: Timestamp? = nil) async {
        var (open, lease, moment) = (indices, firstLease, patience)
        while !open.isEmpty {
            let half = context.time.now().adding(seconds: context.settings.leaseSeconds / 2)
            await flight.wait(until: moment ?? half)
            moment = nil
            let (rows, left) = settle(open)
            flight.markStalled(left)
            let renewed = context.time.now().adding(seconds: context.settings.leaseSeconds)
            let renewals = left.map { underWay($0, lease: renewed) }
            guard await record(rows, renewals, held: lease) else { return }
            (open, lease) = (left, renewed)
        }
    }

    private func record(_ rows: [SettledEntry], _ renewals: [Delivery], held lease: Timestamp) async -> Bool {
        let notes = context.settings.notesDeliveries
        let written = await context.writing(until: lease) { writer throws(StoreError) in
            let chosen = try Self.retiring(rows, writer)
            for row in chosen {
                let isHeld = try writer.record(row.delivery, heldUntil: lease)
                if isHeld && notes { writer.note(.deliveryChanged(row.delivery)) }
            }
            try Self.endOthers(of: chosen, writer)
            for renewal in renewals { _ = try writer.record(renewal, heldUntil: lease) }
            return chosen
        }
        guard let written else { return false }
        report(written)
        return true
    }

    /// Tells what was written.
    func report(_ rows: [SettledEntry]) {
        var counts: [PushService: [DeliveryStatus: Int]] = [:]
        for row in rows {
            let delivery = row.delivery
            let service = row.service
            counts[service, default: [:]][delivery.status, default: 0] += 1
            let reason = delivery.reason ?? ""
            if let retirement = row.retirement {
                context.report(.deviceRetired(delivery.deviceID, reason: retirement.reason))
            } else if delivery.status == .failed {
                context.report(.payloadRefused(service, reason: reason, delivery.id))
            } else if delivery.status == .waiting, reason == FCMErrorCode.thirdPartyAuthError.rawValue {
                context.report(.credentialTrouble(service, reason: reason, delivery.id))
            }
        }
        if let due = rows.compactMap(\.delivery.nextAttemptAt).min() { context.noteDue(due) }
        for (service, states) in counts {
            for (status, count) in states { context.report(.settled(service, status, count: count)) }
        }
    }
}
