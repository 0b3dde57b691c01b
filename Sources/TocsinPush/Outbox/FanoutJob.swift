import TocsinCore

/// A claimed fan-out with its message.
struct FanoutJob: Sendable, Hashable {
    var fanout: Fanout
    var message: LoadedMessage
    var pages = 0

    /// Whether it goes before others.
    var isUrgent: Bool {
        guard case .payload(let payload) = message else { return false }
        return payload.priority == 5
    }

    /// Devices of the next page: few at first, because most fan-outs are small.
    func pageLimit(_ settings: OutboxSettings, available: Int) -> Int {
        min(pages == 0 ? 100 : settings.pageSize, settings.pageSize, max(1, available))
    }
}

extension FanoutJob {
    /// The rows of members who have no device to send to, so that they are not missing without a word.
    fileprivate func outcomesWithoutDevice(
        _ reader: any StoreReader,
        now: Timestamp
    ) throws(StoreError) -> [Delivery] {
        guard case .payload = message, fanout.firstDevice.isEmpty else { return [] }
        return try reader.membersWithoutDevice(of: fanout).map { user in
            let device = DeviceID.missing(of: user)
            return Delivery(
                id: DeliveryIdentity.id(of: fanout.messageID, to: device),
                messageID: fanout.messageID,
                deviceID: device,
                platform: nil,
                status: .skipped,
                reason: DeliveryReason.noDevice.rawValue,
                updatedAt: now
            )
        }
    }
}

/// Serves one page of a fan-out: reads devices, sends, writes outcomes and progress in one transaction.
struct FanoutPage: Sendable {
    let context: OutboxContext
    let job: FanoutJob
    let limit: Int

    /// Serves the page.
    ///
    /// `advanced` is called once, as soon as the next page may start, with what is left of the job.
    func serve(advanced: @Sendable (FanoutJob?) -> Void) async {
        guard let (fanout, devices) = await page() else {
            context.control.unreserve(limit)
            return advanced(nil)
        }
        let flight = start(devices)
        context.control.unreserve(limit)
        let patience = context.time.now().adding(seconds: context.settings.pagePatienceSeconds)
        await flight.wait(until: patience)
        let log = FlightLog(flight)
        let (rows, open) = log.settle(Array(devices.indices))
        flight.markStalled(open)
        let lease = context.time.now().adding(seconds: context.settings.leaseSeconds)
        let step = Step(
            fanout: fanout,
            nextDevice: devices.last?.id.text ?? fanout.nextDevice,
            isLast: devices.count < limit,
            lease: lease
        )
        let isWritten = await write(step, rows, open.map { log.underWay($0, lease: lease) }, log)
        advanced(isWritten && !step.isLast ? next(step) : nil)
        if isWritten { await log.follow(open, lease: lease) }
        flight.end()
    }

    private struct Step: Sendable {
        var fanout: Fanout
        var nextDevice: String
        var isLast: Bool
        var lease: Timestamp
    }

    private func next(_ step: Step) -> FanoutJob {
        var next = job
        next.fanout = step.fanout
        next.fanout.nextDevice = step.nextDevice
        next.fanout.leaseUntil = step.lease
        next.pages += 1
        return next
    }

    /// The next devices, under a lease with at least half its time left; nil when it was lost.
    private func page() async -> (Fanout, [Device])? {
        var fanout = job.fanout
        let now = context.time.now()
        let lease = now.adding(seconds: context.settings.leaseSeconds)
        if fanout.leaseUntil ?? now < now.adding(seconds: context.settings.leaseSeconds / 2) {
            let held = fanout
            let isHeld = await context.writing(until: lease) { writer throws(StoreError) in
                try writer.advance(held, nextDevice: held.nextDevice, leaseUntil: lease)
            }
            guard isHeld == true else { return nil }
            fanout.leaseUntil = lease
        }
        guard job.message != .gone else { return (fanout, []) }
        let (leased, limit) = (fanout, limit)
        let devices = await context.reading(until: fanout.leaseUntil ?? lease) { reader throws(StoreError) in
            try reader.nextDevices(of: leased, limit: limit)
        }
        return devices.map { (fanout, $0) }
    }

    private func start(_ devices: [Device]) -> Flight {
        let now = context.time.now()
        let entries = devices.map { device in
            OutboxEntry(
                device: device,
                delivery: Delivery(
                    id: DeliveryIdentity.id(of: job.fanout.messageID, to: device.id),
                    messageID: job.fanout.messageID,
                    deviceID: device.id,
                    platform: device.platform,
                    status: .sending,
                    updatedAt: now
                ),
                lane: context.providers.lane(of: device)
            )
        }
        return Flight(context, entries, [job.fanout.messageID: job.message])
    }

    /// Writes nothing when the fan-out is no longer ours, for then its new holder serves these devices.
    private func write(_ step: Step, _ rows: [SettledEntry], _ underWay: [Delivery], _ log: FlightLog) async -> Bool {
        let (job, settings, now) = (job, context.settings, context.time.now())
        let written = await context.writing(until: step.fanout.leaseUntil ?? step.lease) {
            writer throws(StoreError) -> [SettledEntry]? in
            guard try writer.advance(step.fanout, nextDevice: step.nextDevice, leaseUntil: step.lease) else {
                return nil
            }
            let chosen = try FlightLog.retiring(rows, writer)
            var deliveries = chosen.map(\.delivery) + underWay
            if step.isLast { deliveries += try job.outcomesWithoutDevice(writer, now: now) }
            if !deliveries.isEmpty { try writer.save(deliveries) }
            try FlightLog.endOthers(of: chosen, writer)
            if settings.wantsNotes { for delivery in deliveries { writer.note(.deliveryChanged(delivery)) } }
            if step.isLast {
                var served = step.fanout
                served.nextDevice = step.nextDevice
                served.leaseUntil = step.lease
                try writer.finish(served)
            }
            return chosen
        }
        guard let written = written ?? nil else { return false }
        log.report(written)
        return true
    }
}
