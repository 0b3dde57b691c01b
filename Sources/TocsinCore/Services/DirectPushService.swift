/// Pushes to users or devices without a topic of theirs: messages of the sender's own, with
/// deliveries of their own.
package struct DirectPushService: Sendable {
    private let environment: ServiceEnvironment
    private let messages: ModelType
    private let topics: ModelType
    private let checks: InputChecks
    /// Tokens of one push.
    package static let maximumTokens = 500

    /// A service that keeps direct pushes as messages of these models.
    package init(environment: ServiceEnvironment, messages: ModelType, topics: ModelType) {
        self.environment = environment
        self.messages = messages
        self.topics = topics
        checks = InputChecks(limits: environment.limits)
    }

    /// What is to be pushed, and to whom.
    package struct Order: Sendable {
        /// The user all of whose devices get the push; nil: only `tokens` do.
        package var userID: UserID?
        /// Tokens of single devices that get the push, at most `maximumTokens`.
        package var tokens: [String]
        /// The address that proved the devices which get the push; nil: none.
        package var address: String?
        /// The platforms of the user's devices that get the push; empty: all.
        package var platforms: Set<PushPlatform>
        /// A message's fields but its topic.
        package var input: RecordInput

        /// An order as a client sends it; it is checked by `send`.
        package init(
            userID: UserID?,
            tokens: [String] = [],
            platforms: Set<PushPlatform> = Set(PushPlatform.allCases),
            input: RecordInput
        ) {
            self.userID = userID
            self.tokens = tokens
            self.platforms = platforms
            self.input = input
        }
    }

    /// What was made durable.
    package struct Receipt: Sendable {
        /// The stored message; that of the first call when this one repeats it.
        package var message: Record
        /// How many devices the push goes to.
        package var devices: Int
        /// How many of the tokens no device has that the caller may reach.
        package var unknownTokens: Int
    }

    /// The topic that holds what a user's tokens push; clients cannot make an id with a colon.
    package static func topicID(of caller: Identity) -> TopicID {
        TopicID(topicPrefix + DerivedUUID.text(of: "direct pushes", caller.owner))
    }

    private static let topicPrefix = "push:"

    /// Whether a topic holds direct pushes, which go to whom they name and not to members.
    package static func isTopic(_ id: String) -> Bool { id.hasPrefix(topicPrefix) }

    /// Stores the push with its deliveries in one transaction.
    ///
    /// Devices of people whom the caller may not reach are unknown tokens to them. The same `id` or
    /// `key` with the same content again answers with what is stored.
    package func send(_ order: Order, caller: Identity) async throws(ServiceError) -> Receipt {
        let reach = AccessPolicy.pushReach(of: caller)
        // The schema's rules decide about messages; the scope has been heeded here.
        var owner = caller
        owner.scope = .full
        guard reach != .nobody,
            order.userID == nil || reach == .everybody || reach == .only(order.userID ?? UserID("")),
            case .allow(let permitted) = AccessPolicy.decision(.create, on: messages, for: owner)
        else { throw .unauthorized }
        try check(order)
        var order = order
        order.address = try order.address.map(environment.canonicalAddress)
        try environment.takeStorage(for: order.input, of: messages, by: caller)
        let (service, sender, checked) = (self, owner, order)
        return try await environment.store.writing { writer throws(StoreError) in
            try service.write(checked, sender, reach, permitted, writer)
        }
    }

    private func check(_ order: Order) throws(ServiceError) {
        guard order.userID != nil || order.address != nil || !order.tokens.isEmpty else {
            throw .badInput("Say whom to push to: userId, tokens, address, or several of them.")
        }
        guard order.tokens.count <= Self.maximumTokens else {
            throw .badRequest("tokens has \(order.tokens.count) entries; at most \(Self.maximumTokens) are allowed.")
        }
        for token in order.tokens {
            try checks.checkText(token, field: "tokens", maximumBytes: environment.limits.tokenBytes)
            guard !token.isEmpty else { throw .badInput("tokens must not have empty entries.") }
        }
        try checks.check(order.input, of: messages)
    }

    private func write(
        _ order: Order,
        _ sender: Identity,
        _ reach: AccessPolicy.PushReach,
        _ permitted: Predicate,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<Receipt, ServiceError> {
        let topic = Self.topicID(of: sender)
        var input = order.input
        input["topicId"] = .text(topic.text)
        let factory = RecordFactory(model: messages)
        let defaults = MessageService.defaults
        if let stored = try existing(input, in: topic, writer) {
            guard stored["topicId"].text == topic.text else { return .failure(.conflict(nil)) }
            switch factory.outcome(ofRepeating: input, stored: stored, caller: sender, defaults: defaults) {
            case .success(let record): return .success(try receipt(record, writer))
            case .failure(let error): return .failure(error)
            }
        }
        let now = environment.changeTime()
        let id = input["id"]?.text ?? environment.identifiers.makeID()
        var record = factory.make(input, id: id, caller: sender, at: now)
        for (name, value) in defaults where record[name].isNull { record[name] = value }
        guard permitted.matches(record), sender.mayWrite(input, .create, to: record) else {
            return .failure(.unauthorized)
        }
        let deliveries = try self.deliveries(of: MessageID(id), order, reach, now, writer)
        try prepareTopic(topic, sender, now, writer)
        let created = NewMessages([record])
        try writer.create(created)
        try writer.save(deliveries)
        try writer.awaitAnswers()
        let message = created.records[0]
        for delivery in deliveries { writer.note(.deliveryChanged(delivery)) }
        try environment.raise(.pushRequested(Self.request(order, message)), writer)
        if deliveries.contains(where: { $0.status == .waiting }) { writer.note(.outboxFilled) }
        return .success(try receipt(message, writer))
    }

    private static func request(_ order: Order, _ message: Record) -> WebhookOccurrence.PushRequest {
        var request = WebhookOccurrence.PushRequest(message)
        request.userID = order.userID
        request.tokenCount = order.tokens.isEmpty ? nil : order.tokens.count
        return request
    }

    private func existing(
        _ input: RecordInput,
        in topic: TopicID,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Record? {
        if let id = input["id"]?.text, let stored = try writer.records(messages, ids: [id], where: .always).first {
            return stored
        }
        guard let key = input["key"]?.text else { return nil }
        return try writer.messages(messages, keys: [MessageKey(topicID: topic, key: key)]).first
    }

    /// Makes the sender's topic, or takes it back from the dead.
    private func prepareTopic(
        _ id: TopicID,
        _ sender: Identity,
        _ now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let factory = RecordFactory(model: topics)
        if let stored = try writer.records(topics, ids: [id.text], where: .always).first {
            guard stored.isDeleted else { return }
            var revived = factory.changed(stored, by: [:], at: now)
            revived["_deleted"] = .null
            return try writer.update(revived)
        }
        let name = "direct pushes"
        let input: RecordInput = ["name": .text(name), "arn": .text("arn:tocsin:topic:\(sender.username):\(name)")]
        let topic = factory.make(input, id: id.text, caller: sender, at: now)
        _ = try writer.insert(topic)
        writer.note(.created(topic))
    }

    private func receipt(_ message: Record, _ reader: any StoreReader) throws(StoreError) -> Receipt {
        let limit = Self.maximumTokens + environment.limits.devicesPerUser + RegistrationProofs.devicesPerAddress
        let rows = try reader.deliveries(of: MessageID(message.id), status: nil, after: nil, limit: limit)
        let unknown = rows.count { $0.reason == .unknownToken }
        let missing = rows.count { $0.deviceID.userWithoutDevice != nil || $0.reason == .unknownAddress }
        return Receipt(message: message, devices: rows.count - unknown - missing, unknownTokens: unknown)
    }
}

extension DirectPushService {
    /// One delivery for each device that is reached, waiting, and for each
    /// token that is not, skipped.
    private func deliveries(
        of message: MessageID,
        _ order: Order,
        _ reach: AccessPolicy.PushReach,
        _ now: Timestamp,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Delivery] {
        var devices: [DeviceID: Device] = [:]
        var unknown: Set<String> = []
        if let user = order.userID {
            for device in try reader.devices(of: user) where device.isActive { devices[device.id] = device }
        }
        for given in order.tokens {
            let token = environment.canonicalToken(given)
            // Hexadecimal is only a spelling of bytes; devices have it in lower case.
            var found = try reader.devices(token: token)
            if found.isEmpty { found = try reader.devices(token: token.lowercased()).filter { $0.platform == .ios } }
            let reached = found.filter { reach == .everybody || reach == .only($0.userID) }
            if reached.isEmpty { unknown.insert(token) }
            for device in reached { devices[device.id] = device }
        }
        var addressed: [Device] = []
        if let address = order.address {
            addressed = try reader.devices(address: address).filter {
                $0.isActive && (reach == .everybody || reach == .only($0.userID))
            }
            for device in addressed { devices[device.id] = device }
        }
        let chosen = devices.values.filter { order.platforms.contains($0.platform) }
        var rows = chosen.map { device in
            let row = row(of: message, to: device.id, device.platform, now)
            return device.isActive ? row : row.final(.ended, device.disabledReason ?? .deviceInactive)
        }
        // The token itself is not kept: it may be somebody's.
        rows += unknown.sorted().map { token in
            let stand = DeviceID("unknown:" + DerivedUUID.text(of: message.text, token))
            return row(of: message, to: stand, nil, now).final(.skipped, .unknownToken)
        }
        if let address = order.address, addressed.isEmpty {
            let stand = DeviceID("unknown:" + DerivedUUID.text(of: message.text, address))
            rows.append(row(of: message, to: stand, nil, now).final(.skipped, .unknownAddress))
        }
        if let user = order.userID, !chosen.contains(where: { $0.userID == user }) {
            let missing = row(of: message, to: .missing(of: user), nil, now)
            rows.append(missing.final(.skipped, .noDevice))
        }
        return rows
    }

    /// A row that waits.
    private func row(
        of message: MessageID,
        to device: DeviceID,
        _ platform: PushPlatform?,
        _ now: Timestamp
    ) -> Delivery {
        Delivery(
            id: DeliveryID(of: message, to: device),
            messageID: message,
            deviceID: device,
            platform: platform,
            status: .waiting,
            nextAttemptAt: now,
            updatedAt: now
        )
    }
}

extension Delivery {
    fileprivate func final(_ status: DeliveryStatus, _ reason: DeliveryReason) -> Delivery {
        var delivery = self
        delivery.status = status
        delivery.reason = reason
        delivery.nextAttemptAt = nil
        return delivery
    }
}
