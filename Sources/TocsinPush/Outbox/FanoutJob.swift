import TocsinCore

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
