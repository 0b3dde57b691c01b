/// Pushes to users or devices without a topic of theirs: messages of the sender's own, with
/// deliveries of their own.
package struct DirectPushService: Sendable {
    let environment: ServiceEnvironment
    private let messages: ModelType
    private let topics: ModelType
    private let checks: InputChecks
    /// Devices that a push to everybody may have.
    package static let maximumDevices = 5000
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
        /// In place of `userID`: a local user's name, else a user's id.
        package var user: String?
        /// All active devices of the server get the push, and nothing else names any.
        package var isForEverybody = false
        /// Whether it is kept as a message of the user's own, for their feed and history.
        package var isKeptByUser = false
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
        guard reach != .nobody, reach == .everybody || !order.isForEverybody else { throw .unauthorized }
        try check(order)
        var order = order
        order.address = try order.address.map(environment.canonicalAddress)
        order.input = try messages.typeNames.completed(order.input, of: messages)
        if let user = order.user { order.userID = try await userID(user, caller) }
        guard order.userID == nil || reach == .everybody || reach == .only(order.userID ?? UserID("")) else {
            throw .unauthorized
        }
        if order.isForEverybody, order.isKeptByUser { return try await sendToEach(order, caller, reach) }
        guard order.isKeptByUser, let user = order.userID, user != caller.userID else {
            return try await store(order, of: caller, reach)
        }
        guard let owner = try await keeper(user) else {
            throw .badInput(
                "Nothing is known of the user \(user.text.prefix(64)), so no message can be theirs. Check the id, or leave "
                    + "inbox out: the push is then kept by its sender."
            )
        }
        return try await store(order, of: owner, reach)
    }

    /// Makes a push durable as a message of `owner`.
    ///
    /// `everybody` are the devices of a push to everybody, where known; nil: they are read.
    func store(
        _ order: Order,
        of owner: Identity,
        _ reach: AccessPolicy.PushReach,
        everybody: [DeviceID]? = nil
    ) async throws(ServiceError) -> Receipt {
        // The schema's rules decide about messages; the scope has been heeded before.
        var owner = owner
        owner.scope = .full
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: messages, for: owner) else {
            throw .unauthorized
        }
        try environment.takeStorage(for: order.input, of: messages, by: owner)
        let (service, sender) = (self, owner)
        // A table may be long, and writers wait for each other.
        var all = everybody
        if order.isForEverybody, all == nil { all = try await self.everybody(order, owner)?.map(\.id) }
        let everybody = all
        return try await environment.store.writing { writer throws(StoreError) in
            try service.write(order, sender, reach, everybody, permitted, writer)
        }
    }

    private func check(_ order: Order) throws(ServiceError) {
        let namesUser = order.userID != nil || order.user != nil
        guard namesUser || order.address != nil || !order.tokens.isEmpty || order.isForEverybody else {
            throw .badInput("Say whom to push to: userId or user, tokens, address, or everybody.")
        }
        guard order.userID?.text != "", order.user != "", order.address != "" else {
            throw .badInput("userId, user and address must not be empty; leave out what you do not mean.")
        }
        guard order.userID == nil || order.user == nil else {
            throw .badInput("userId and user are two names of one thing. Send one of them.")
        }
        guard !order.isForEverybody || !namesUser && order.tokens.isEmpty && order.address == nil else {
            throw .badInput("everybody excludes userId, user, tokens and address. Send one of them.")
        }
        guard !order.isKeptByUser || namesUser || order.isForEverybody else {
            throw .badInput("inbox is for a push to a user or to everybody: send userId or user, or leave inbox out.")
        }
        guard !order.isKeptByUser || !order.isForEverybody || order.input["id"]?.text == nil else {
            throw .badInput("id names one message, and everybody with inbox makes many. Send a key instead.")
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
        _ everybody: [DeviceID]?,
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
        guard !order.isForEverybody || everybody != nil else { return .failure(Self.tooMany) }
        let all = try writer.unlocked.devices(ids: everybody ?? []).filter(\.isActive)
        let deliveries = try self.deliveries(of: MessageID(id), order, reach, among: all, now, writer)
        // Feeds and topics are locked in the order in which all writers do.
        let held = try writer.hold([topic], of: topics, feedsOf: record.owner.map { [$0] } ?? [])
        try prepareTopic(topic, held.topics[topic]?.record, sender, now, writer)
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

    /// There are more devices than one push may have.
    static var tooMany: ServiceError {
        .limit(
            "There are more than \(maximumDevices) devices. To reach them all, publish to a topic that their users are "
                + "members of."
        )
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
        _ stored: Record?,
        _ sender: Identity,
        _ now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let factory = RecordFactory(model: topics)
        if let stored {
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
        let limit =
            max(Self.maximumDevices, Self.maximumTokens + environment.limits.devicesPerUser)
            + RegistrationProofs.devicesPerAddress
        let rows = try reader.deliveries(of: MessageID(message.id), status: nil, after: nil, limit: limit)
        let unknown = rows.count { $0.reason == .unknownToken }
        let missing = rows.count { $0.deviceID.userWithoutDevice != nil || $0.reason == .unknownAddress }
        return Receipt(message: message, devices: rows.count - unknown - missing, unknownTokens: unknown)
    }
}

extension DirectPushService {
    /// Writes a push of the server's own to some of a person's devices, as if they had sent it.
    func push(
        _ input: RecordInput,
        to devices: [DeviceID: PushPlatform],
        of owner: Identity,
        at now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) -> MessageID {
        let topic = Self.topicID(of: owner)
        var input = input
        input["topicId"] = .text(topic.text)
        let id = environment.identifiers.makeID()
        var record = RecordFactory(model: messages).make(input, id: id, caller: owner, at: now)
        for (name, value) in MessageService.defaults where record[name].isNull { record[name] = value }
        let held = try writer.hold([topic], of: topics, feedsOf: record.owner.map { [$0] } ?? [])
        try prepareTopic(topic, held.topics[topic]?.record, owner, now, writer)
        let created = NewMessages([record])
        try writer.create(created)
        let deliveries = devices.map { row(of: MessageID(id), to: $0.key, $0.value, now) }
        try writer.save(deliveries)
        try writer.awaitAnswers()
        for delivery in deliveries { writer.note(.deliveryChanged(delivery)) }
        var request = WebhookOccurrence.PushRequest(created.records[0])
        request.userID = owner.userID
        try environment.raise(.pushRequested(request), writer)
        writer.note(.outboxFilled)
        return MessageID(id)
    }
}
