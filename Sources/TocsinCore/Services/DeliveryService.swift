/// What became of a message's pushes.
package struct DeliveryService: Sendable {
    let environment: ServiceEnvironment
    let messages: ModelType
    let topics: ModelType
    /// What the running outbox knows; nil where none runs.
    let forecast: (any PushForecast)?
    /// Rows of one redrive that listeners are told of at most; the outbox tells
    /// of what becomes of them.
    private static let toldRedrives = 1000

    /// A service for the messages and topics of one schema; without `forecast` it cannot tell of
    /// pauses.
    package init(
        environment: ServiceEnvironment,
        messages: ModelType,
        topics: ModelType,
        forecast: (any PushForecast)? = nil
    ) {
        self.environment = environment
        self.messages = messages
        self.topics = topics
        self.forecast = forecast
    }

    /// A delivery with its device, which may be gone by now.
    package struct Entry: Sendable, Hashable {
        /// The row of the ledger.
        package var delivery: Delivery
        /// The device; nil when it is gone, or the member never had one.
        package var device: Device?
        /// A delivery and its device as one snapshot gave them.
        package init(delivery: Delivery, device: Device?) {
            self.delivery = delivery
            self.device = device
        }

        /// Whose device it is, or who has none; nil when the device is gone.
        package var userID: UserID? {
            device?.userID ?? delivery.deviceID.userWithoutDevice
        }
    }

    /// The messages whose deliveries to everybody the caller may see: those
    /// they may create; nil: none.
    package func inspectable(by caller: Identity) -> Predicate? {
        AccessPolicy.mayManageOwnThings(caller, writing: false) ? creatable(by: caller) : nil
    }

    /// Deliveries of one message by device id.
    ///
    /// The caller of this has read the message under the caller's rights.
    package func deliveries(
        of message: MessageID,
        status: DeliveryStatus?,
        after: DeviceID?,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> (entries: [Entry], hasMore: Bool) {
        try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var rows = try reader.deliveries(of: message, status: status, after: after, limit: limit + 1)
            let hasMore = rows.count > limit
            if hasMore { rows.removeLast() }
            let devices = try reader.devices(ids: rows.map(\.deviceID))
            let byID = Dictionary(devices.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            return (rows.map { Entry(delivery: $0, device: byID[$0.deviceID]) }, hasMore)
        }
    }

    /// Counts by state for many messages at once.
    package func summaries(
        of messages: [MessageID],
        caller: Identity
    ) async throws(ServiceError) -> [MessageID: DeliverySummary] {
        try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.deliverySummaries(of: messages)
        }
    }

    /// Makes a message's deliveries in this state, and for this reason where one is given, due
    /// again: all for whoever may create messages in its topic as its owner, those to their own
    /// devices for whoever else may read it.
    ///
    /// Answers with the counts that the caller may see.
    package func redrive(
        _ message: MessageID,
        status: DeliveryStatus,
        reason: DeliveryReason? = nil,
        caller: Identity
    ) async throws(ServiceError) -> DeliverySummary {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        guard status == .failed || status == .skipped else {
            throw .badInput("Only FAILED and SKIPPED deliveries can be sent again.")
        }
        let creating = AccessPolicy.decision(.create, on: messages, for: caller, granting: .owner)
        let all: Predicate? = if case .allow(let permitted) = creating { permitted } else { nil }
        let readable = readable(by: caller)
        let (messages, time) = (messages, environment.time)
        return try await environment.store.writing { writer throws(StoreError) in
            func isAmong(_ permitted: Predicate?) throws(StoreError) -> Bool {
                guard let permitted else { return false }
                return try !writer.records(messages, ids: [message.text], where: permitted).isEmpty
            }
            if try isAmong(all) {
                let count = try writer.redrive(message, status: status, reason: reason, to: nil, now: time.now())
                if count > 0 { writer.note(.outboxFilled) }
                if (1...Self.toldRedrives).contains(count) {
                    let waiting = try writer.deliveries(of: message, status: .waiting, after: nil, limit: count)
                    for delivery in waiting { writer.note(.deliveryChanged(delivery)) }
                }
                return .success(try writer.deliverySummaries(of: [message])[message] ?? DeliverySummary())
            }
            guard try isAmong(readable) else { return .failure(.unauthorized) }
            let own = try writer.devices(of: caller.userID).map(\.id)
            let count = try writer.redrive(message, status: status, reason: reason, to: own, now: time.now())
            if count > 0 { writer.note(.outboxFilled) }
            var summary = DeliverySummary()
            for delivery in try writer.deliveries(of: message, to: own + [.missing(of: caller.userID)]) {
                summary.counts[delivery.status, default: 0] += 1
                if count > 0, delivery.status == .waiting { writer.note(.deliveryChanged(delivery)) }
            }
            return .success(summary)
        }
    }

    /// Returns once every write that began earlier is durable and told of.
    package func settle() async throws(ServiceError) {
        try await environment.store.writing { _ throws(StoreError) in .success(()) }
    }

    /// Changed deliveries with their devices and messages; those whose
    /// message is gone are left out.
    package func entries(of deliveries: [Delivery]) async throws(ServiceError) -> [(entry: Entry, message: Record)] {
        let messages = messages
        return try await environment.store.reading(for: .server) { reader throws(StoreError) in
            let ids = Set(deliveries.map(\.messageID.text))
            var records: [String: Record] = [:]
            for record in try reader.records(messages, ids: Array(ids), where: .always) { records[record.id] = record }
            var devices: [DeviceID: Device] = [:]
            for device in try reader.devices(ids: Array(Set(deliveries.map(\.deviceID)))) {
                devices[device.id] = device
            }
            return deliveries.compactMap { delivery in
                records[delivery.messageID.text].map {
                    (Entry(delivery: delivery, device: devices[delivery.deviceID]), $0)
                }
            }
        }
    }
}
