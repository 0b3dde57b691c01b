/// What became of a message's pushes.
package struct DeliveryService: Sendable {
    private let environment: ServiceEnvironment
    private let messages: ModelType

    package init(environment: ServiceEnvironment, messages: ModelType) {
        self.environment = environment
        self.messages = messages
    }

    /// A delivery with its device, which may be gone by now.
    package struct Entry: Sendable, Hashable {
        package var delivery: Delivery
        package var device: Device?
    }

    /// Deliveries of one message by device id.
    ///
    /// The caller of this has read the message under the caller's rights.
    package func deliveries(
        of message: MessageID,
        status: DeliveryStatus?,
        after: DeviceID?,
        limit: Int
    ) async throws(ServiceError) -> (entries: [Entry], hasMore: Bool) {
        try await environment.store.reading { reader throws(StoreError) in
            var rows = try reader.deliveries(of: message, status: status, after: after, limit: limit + 1)
            let hasMore = rows.count > limit
            if hasMore { rows.removeLast() }
            let devices = try reader.devices(ids: rows.map(\.deviceID))
            let byID = Dictionary(devices.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            return (rows.map { Entry(delivery: $0, device: byID[$0.deviceID]) }, hasMore)
        }
    }

    /// Counts by state for many messages at once.
    package func summaries(of messages: [MessageID]) async throws(ServiceError) -> [MessageID: DeliverySummary] {
        try await environment.store.reading { reader throws(StoreError) in
            try reader.deliverySummaries(of: messages)
        }
    }

    /// Makes a message's deliveries in this state due again; for whoever may create messages in its topic.
    package func redrive(
        _ message: MessageID,
        status: DeliveryStatus,
        caller: Identity
    ) async throws(ServiceError) -> DeliverySummary {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true),
            case .allow(let permitted) = AccessPolicy.decision(.create, on: messages, for: caller)
        else { throw .unauthorized }
        guard status == .failed || status == .skipped else {
            throw .badInput("Only FAILED and SKIPPED deliveries can be sent again.")
        }
        let (messages, time) = (messages, environment.time)
        return try await environment.store.writing { writer throws(StoreError) in
            guard try !writer.records(messages, ids: [message.text], where: permitted).isEmpty else {
                return .failure(.unauthorized)
            }
            if try writer.redrive(message, status: status, now: time.now()) > 0 { writer.note(.outboxFilled) }
            return .success(try writer.deliverySummaries(of: [message])[message] ?? DeliverySummary())
        }
    }
}
