import TocsinCore

/// Serves one page of devices, of one fan-out or of several small ones: reads them, sends, and
/// writes outcomes and progress in one transaction.
struct FanoutPage: Sendable {
    let context: OutboxContext
    let jobs: [FanoutJob]
    let limit: Int
    /// Tells the schedule how far it is: each job is told of once, as soon as
    /// its next page may start.
    let tell: @Sendable (OutboxSchedule.Event) -> Void

    /// A job's part of the page.
    private struct Share: Sendable {
        var job: FanoutJob
        /// Its indices among the page's entries.
        var indices: Range<Int>
        var nextDevice: String
        var isLast: Bool
    }

    func serve() async {
        let lease = context.time.now().adding(seconds: context.settings.leaseSeconds)
        let held = await renewed(lease)
        guard let reading = await read(held, lease) else {
            context.inFlight.unreserve(limit)
            return tell(.advanced(jobs, left: []))
        }
        let isPaced = await paced(reading)
        if isPaced, context.openResults.areAbandoned {
            context.inFlight.unreserve(limit)
            return tell(.advanced(jobs, left: held))
        }
        let batch = SendBatch(context, reading.entries, messages(of: held), isPaced: isPaced)
        context.inFlight.unreserve(limit)
        await goOnWithoutPage(reading)
        guard !reading.shares.isEmpty else { return batch.end() }
        let patience = context.time.now().adding(seconds: context.settings.pagePatienceSeconds)
        await batch.wait(until: patience)
        tell(.answered)
        await record(reading.shares, batch)
        batch.end()
    }

    /// Waits until the project's quota lets a page of a large fan-out go, without reserving
    /// anything meanwhile.
    ///
    /// Answers false for other pages, in which pushes that may not go yet are put off one by one.
    private func paced(_ reading: Reading) async -> Bool {
        guard jobs.count == 1, !jobs[0].isFresh, !jobs[0].fanout.isUrgent, let lane = reading.entries.first?.lane,
            context.quotas.limits(lane), reading.entries.allSatisfy({ $0.lane == lane })
        else { return false }
        let now = context.time.now()
        let latest = Timestamp(milliseconds: .max)
        let moment = context.quotas.book(reading.entries.count, on: lane, now: now, latest: latest)
        guard moment > now else { return true }
        context.inFlight.unreserve(limit)
        // The task is cancelled only after the last page is recorded.
        try? await context.time.sleep(until: moment)
        context.inFlight.reserve(limit)
        return true
    }

    private func messages(of jobs: [FanoutJob]) -> [MessageID: LoadedMessage] {
        Dictionary(jobs.map { ($0.fanout.messageID, $0.message) }, uniquingKeysWith: { first, _ in first })
    }

    /// The jobs with leases of which at least half is left; those that were lost are told of.
    private func renewed(_ lease: Timestamp) async -> [FanoutJob] {
        let now = context.time.now()
        let soon = now.adding(seconds: context.settings.leaseSeconds / 2)
        guard jobs.contains(where: { $0.fanout.leaseUntil ?? now < soon }) else { return jobs }
        let jobs = jobs
        let renewed = await context.writing(until: lease) { writer throws(StoreError) in
            var renewed: [FanoutJob] = []
            for job in jobs {
                let fanout = job.fanout
                guard try writer.advance(fanout, nextDevice: fanout.nextDevice, leaseUntil: lease) else { continue }
                var held = job
                held.fanout.leaseUntil = lease
                renewed.append(held)
            }
            return renewed
        }
        return renewed ?? []
    }
}

// What is to be sent.
extension FanoutPage {
    /// What a page holds, and what must go another way.
    private struct Reading: Sendable {
        var entries: [OutboxEntry] = []
        var shares: [Share] = []
        /// To be divided at these devices first.
        var large: [(job: FanoutJob, cuts: [String])] = []
        var roomless: [FanoutJob] = []
        /// Wishes of users that were heard of before.
        var heardWishes: Int
    }

    /// Reads the jobs' next devices, in their order, as far as there is room.
    private func read(_ held: [FanoutJob], _ lease: Timestamp) async -> Reading? {
        guard !held.isEmpty else { return nil }
        let until = held.compactMap(\.fanout.leaseUntil).min() ?? lease
        let (context, room) = (context, limit)
        let heardWishes = context.cancellations.heardWishes
        let read = await context.reading(until: until) { reader throws(StoreError) in
            var found: [Found] = []
            var large: [(job: FanoutJob, cuts: [String])] = []
            var (left, reached) = (room, 0)
            for job in held where left > 0 {
                reached += 1
                let cuts = try Self.cuts(of: job, context.settings, reader)
                guard cuts.isEmpty else {
                    large.append((job, cuts))
                    continue
                }
                let limit = min(left, job.pageLimit(context.settings))
                let devices = job.message == .gone ? [] : try reader.nextDevices(of: job.fanout, limit: limit)
                found.append((job, devices, limit))
                left -= devices.count
            }
            try IncidentPushes.noteAnswers(to: found.compactMap(\.job.subject?.message), context, reader)
            let judged = try Self.seen(Self.judged(found, context, reader), reader)
            return (try Self.hushed(judged, context, reader), large, reached)
        }
        guard let (found, large, reached) = read else { return nil }
        var reading = Reading(large: large, roomless: Array(held[reached...]), heardWishes: heardWishes)
        for (job, devices, limit) in found { add(devices, of: job, limit: limit, to: &reading) }
        return reading
    }

    /// A job, its next devices, and how many were asked for.
    private typealias Found = (job: FanoutJob, devices: [Device], limit: Int)

    /// Marks the devices whose owners may not have the message: the page's people are looked up
    /// once, the rules are judged in memory.
    private static func judged(
        _ found: [Found],
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Found] {
        let now = context.time.now()
        let active = found.flatMap { $0.devices.filter(\.isActive) }
        guard !active.isEmpty else { return found }
        var judge = try PushJudge(of: active, context, reader)
        guard judge.isNeeded else { return found }
        let stale = found.filter { $0.job.subject?.isStale(at: now) == true }.map(\.job.fanout.messageID)
        let renewed = try OutboxClaim.subjects(of: Set(stale), context, reader)
        var judged = found
        for index in judged.indices {
            let job = judged[index].job
            judged[index].job.subject = renewed[job.fanout.messageID] ?? job.subject
        }
        let pushes = judged.flatMap { found in
            found.job.subject.map { subject in
                found.devices.filter(\.isActive).map { (device: $0, subject: subject) }
            } ?? []
        }
        try judge.readGrants(of: pushes, reader)
        for index in judged.indices {
            guard let subject = judged[index].job.subject else { continue }
            judged[index].devices = judged[index].devices.map { judge.judged($0, subject) }
        }
        return judged
    }

    /// Leaves out devices that have seen nothing of what a quiet change of an incident replaces.
    private static func seen(_ found: [Found], _ reader: any StoreReader) throws(StoreError) -> [Found] {
        var seen = found
        for index in seen.indices {
            guard let subject = seen[index].job.subject else { continue }
            seen[index].devices = try IncidentPushes.seen(
                seen[index].devices,
                of: subject.message,
                node: seen[index].job.fanout.node,
                reader
            )
        }
        return seen
    }

    /// Marks the devices for which a raised priority does not ring.
    private static func hushed(
        _ found: [Found],
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Found] {
        var responders = IncidentResponders(context, reader)
        var hushed = found
        for index in hushed.indices {
            guard let subject = hushed[index].job.subject else { continue }
            hushed[index].devices = try hushed[index].devices.map { device throws(StoreError) in
                try responders.marked(device, subject)
            }
        }
        return hushed
    }

    private static func cuts(
        of job: FanoutJob,
        _ settings: OutboxSettings,
        _ reader: any StoreReader
    ) throws(StoreError) -> [String] {
        guard job.isFresh, job.fanout.nextDevice.isEmpty, case .payload = job.message else { return [] }
        return try reader.deviceCuts(
            of: job.fanout.topicID,
            partSize: settings.rangeSize,
            maximumParts: settings.maximumRanges
        )
    }

    private func add(_ devices: [Device], of job: FanoutJob, limit: Int, to reading: inout Reading) {
        let now = context.time.now()
        let first = reading.entries.count
        var lanes = LaneNames(context)
        for device in devices {
            let delivery = Delivery(
                id: DeliveryID(of: job.fanout.messageID, to: device.id),
                messageID: job.fanout.messageID,
                deviceID: device.id,
                platform: device.platform,
                status: .sending,
                updatedAt: now
            )
            reading.entries.append(
                OutboxEntry(
                    device: device,
                    delivery: delivery,
                    lane: lanes.lane(of: device),
                    heardWishes: reading.heardWishes
                )
            )
        }
        reading.shares.append(
            Share(
                job: job,
                indices: first..<reading.entries.count,
                nextDevice: devices.last?.id.text ?? job.fanout.nextDevice,
                isLast: devices.count < limit
            )
        )
    }

    /// Gives back the jobs that got no share: lost ones, those for which there was no room,
    /// and large ones, divided.
    private func goOnWithoutPage(_ reading: Reading) async {
        guard reading.shares.count < jobs.count else { return }
        let served = Set(reading.shares.map { FanoutKey($0.job.fanout) })
        let parts = reading.large.isEmpty ? [] : await divided(reading.large)
        let others = jobs.filter { !served.contains(FanoutKey($0.fanout)) }
        tell(.advanced(others, left: reading.roomless + parts))
    }

    /// What names a fan-out, whatever its lease.
    private struct FanoutKey: Hashable {
        let message: MessageID
        let first: String

        init(_ fanout: Fanout) {
            (message, first) = (fanout.messageID, fanout.firstDevice)
        }
    }

    private func divided(_ large: [(job: FanoutJob, cuts: [String])]) async -> [FanoutJob] {
        let until = large.compactMap(\.job.fanout.leaseUntil).min() ?? context.time.now()
        let parts = await context.writing(until: until) { writer throws(StoreError) in
            var parts: [FanoutJob] = []
            for (job, cuts) in large {
                for part in try writer.split(job.fanout, at: cuts) { parts.append(job.part(part)) }
            }
            return parts
        }
        return parts ?? []
    }
}

// What has become of it.
extension FanoutPage {
    private struct Record: Sendable {
        var written: [SettledEntry] = []
        var left: [FanoutJob] = []
        /// Entries still awaiting an answer whose rows stand as `sending`.
        var open: [Int] = []
    }

    private func record(_ shares: [Share], _ batch: SendBatch) async {
        let recorder = OutcomeRecorder(batch)
        let settled = recorder.settle(Array(batch.entries.indices))
        batch.markStalled(settled.open)
        let lease = context.time.now().adding(seconds: context.settings.leaseSeconds)
        let record = await write(shares, settled, recorder, lease)
        tell(.advanced(shares.map(\.job), left: record?.left ?? []))
        guard let record else { return }
        recorder.report(record.written)
        await IncidentPushes.repeatNewest(after: record.written, of: batch)
        await recorder.follow(record.open, lease: lease)
    }

    /// Writes nothing of a fan-out that is no longer ours, for then its new
    /// holder serves these devices.
    private func write(
        _ shares: [Share],
        _ settled: OutcomeRecorder.Settled,
        _ recorder: OutcomeRecorder,
        _ lease: Timestamp
    ) async -> Record? {
        let (settings, environment, now) = (context.settings, context.environment, context.time.now())
        let until = shares.compactMap(\.job.fanout.leaseUntil).min() ?? lease
        let underWay = settled.open.map { ($0, recorder.underWay($0, lease: lease)) }
        return await context.writing(until: until) { writer throws(StoreError) in
            var record = Record()
            var lost: [Range<Int>] = []
            var others: [Delivery] = []
            for share in shares {
                // What is asked about members comes before the fan-out's end, which
                // lets go of what it needs.
                let outcomes = share.isLast ? try share.job.outcomesWithoutDevice(writer, now: now) : []
                if let left = try Self.advance(share, lease, writer) {
                    record.left += left
                    others += outcomes
                } else {
                    lost.append(share.indices)
                }
            }
            func isOurs(_ index: Int) -> Bool { !lost.contains { $0.contains(index) } }
            let rows = lost.isEmpty ? settled.rows : zip(settled.indices, settled.rows).filter { isOurs($0.0) }.map(\.1)
            let open = underWay.filter { isOurs($0.0) }
            record.open = open.map(\.0)
            record.written = try OutcomeRecorder.retiring(rows, environment, writer)
            let deliveries = record.written.map(\.delivery) + open.map(\.1) + others
            if !deliveries.isEmpty { try writer.save(deliveries) }
            if settings.wantsNotes { for delivery in deliveries { writer.note(.deliveryChanged(delivery)) } }
            try OutcomeRecorder.setQuietEnds(of: record.written, writer)
            // Last: it may end rows of this very page, and says so.
            try OutcomeRecorder.endOthers(of: record.written, writer)
            return record
        }
    }

    /// Moves a share's fan-out on; what is left of it, or nil when it is no longer held.
    private static func advance(
        _ share: Share,
        _ lease: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [FanoutJob]? {
        let fanout = share.job.fanout
        if share.isLast { return try writer.conclude(fanout) ? [] : nil }
        guard try writer.advance(fanout, nextDevice: share.nextDevice, leaseUntil: lease) else { return nil }
        return [share.job.advanced(to: share.nextDevice, leaseUntil: lease)]
    }
}
