extension DeliveryService {
    /// Every gate between a message and a user's devices.
    ///
    /// For whoever may create such messages, about any user; for others about themselves, as far as
    /// they may read the message. `user` is an id, or the name of a local account that is the
    /// caller's or a member of the topic.
    package func explain(
        _ message: MessageID,
        to user: String,
        caller: Identity
    ) async throws(ServiceError) -> DeliveryExplanation {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        let isAboutSelf = user == caller.userID.text || user == caller.username
        guard let visible = isAboutSelf ? readable(by: caller) : inspectable(by: caller) else { throw .unauthorized }
        let userID = isAboutSelf ? caller.userID : UserID(user)
        let service = self
        let facts = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try service.facts(of: message, where: visible, to: userID, isAboutSelf: isAboutSelf, reader)
        }
        guard let facts else { throw .unauthorized }
        return facts.explanation()
    }

    /// The messages that the caller may read; nil: none.
    func readable(by caller: Identity) -> Predicate? {
        guard case .allow(let visible) = AccessPolicy.decision(.read, on: messages, for: caller) else { return nil }
        return visible
    }

    /// Nil for a message that is absent or not to be seen.
    private func facts(
        of message: MessageID,
        where visible: Predicate,
        to user: UserID,
        isAboutSelf: Bool,
        _ reader: any StoreReader
    ) throws(StoreError) -> DeliveryFacts? {
        guard let record = try reader.records(messages, ids: [message.text], where: visible).first else { return nil }
        let topicID = TopicID(record["topicId"].text ?? "")
        let (userID, membership) = try member(user, of: topicID, reader)
        var devices = try reader.devices(of: userID)
        let rows = try reader.deliveries(of: message, to: devices.map(\.id) + [.missing(of: userID)])
        // About people who never joined, only the message's own rows are told.
        let isKnown = isAboutSelf || membership != nil
        if !isKnown { devices.removeAll { device in !rows.contains { $0.deviceID == device.id } } }
        let isStranger = !isKnown && rows.isEmpty
        let topic = try reader.records(topics, ids: [topicID.text], where: .always).first
        var facts = DeliveryFacts(
            message: record,
            topic: topic,
            userID: userID,
            membership: membership,
            isMuted: isStranger ? false : try reader.isMuted(userID),
            isStranger: isStranger,
            devices: devices,
            deliveries: rows,
            isFanningOut: try reader.isFanningOut(message),
            now: environment.time.now(),
            forecast: forecast
        )
        if !isStranger, let id = record["incidentId"].text {
            let number = record["number"].int ?? 0
            let ids = devices.map(\.id)
            let reached = try reader.devicesReached(byIncident: id, before: number, among: ids, node: "")
            facts.incident = DeliveryFacts.Incident(
                answeredNumber: try reader.answeredNumbers(of: [id])[id] ?? 0,
                hasReached: !reached.isEmpty,
                responders: try reader.incidentFacts(id)?.responders ?? []
            )
        }
        if let topic, !isStranger { facts.mayReceive = try mayReceive(userID, record, topic, reader) }
        return facts
    }

    private func mayReceive(
        _ user: UserID,
        _ message: Record,
        _ topic: Record,
        _ reader: any StoreReader
    ) throws(StoreError) -> Bool {
        let now = environment.time.now()
        let rights = PushRights(
            topics: topics,
            messages: messages,
            requiresSignIn: environment.pushesRequireSignIn,
            claimedGroups: environment.claimedGroups
        )
        let standings = try reader.standings(of: [user], tokensAt: rights.requiresSignIn ? now : nil)
        let receiver = rights.receiver(user, standings[user], now: now)
        guard case .person(let person) = receiver, !rights.mayReceive(receiver, message, in: topic) else {
            return rights.mayReceive(receiver, message, in: topic)
        }
        let roles = try reader.roles(of: GrantSubject.of(person), in: [TopicID(topic.id)])
        return rights.mayReceive(receiver, message, in: topic, roles)
    }

    /// The member by id, or by name if the account of that name is a member:
    /// who is none stays unknown.
    private func member(
        _ user: UserID,
        of topic: TopicID,
        _ reader: any StoreReader
    ) throws(StoreError) -> (UserID, Membership?) {
        if let membership = try reader.membership(of: user, in: topic) { return (user, membership) }
        guard let account = try reader.account(named: user.text),
            let membership = try reader.membership(of: account.id, in: topic)
        else { return (user, nil) }
        return (account.id, membership)
    }
}
