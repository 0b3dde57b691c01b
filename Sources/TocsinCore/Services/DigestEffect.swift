/// Tells people once a day what topics brought of which they want no single pushes: one message in
/// a topic of their own, which is pushed.
package struct DigestEffect: TimerEffect {
    private let environment: ServiceEnvironment
    private let messages: MessageService
    private let rights: PushRights
    private let cron: String
    private static let usersAtOnce = 500
    private static let told = 5
    /// Of a topic's new messages so many of the last are searched for the weightiest.
    private static let searched: Int64 = 1000
    /// No client may choose an id that begins so: nobody makes a person's topic before the server.
    private static let topicPrefix = "digests:"
    /// What names the timer of all digests.
    private static let everybody = ""

    /// - Parameter cron: When digests are made, in UTC.
    package init(environment: ServiceEnvironment, messages: MessageService, rights: PushRights, cron: String) {
        (self.environment, self.messages, self.cron) = (environment, messages, cron)
        self.rights = PushRights(
            topics: rights.topics,
            messages: rights.messages,
            claimedGroups: rights.claimedGroups
        )
    }

    /// One timer for all, and one for each person whose turn it is.
    package let kinds: Set<TimerEntry.Kind> = [.digest]

    /// Sets the timer for all, unless it stands as it should.
    package func prepare() async throws(ServiceError) {
        let effect = self
        try await environment.store.writing { writer throws(StoreError) in
            let stored = try writer.timer(.digest, of: Self.everybody)
            guard stored.map({ !$0.payload.hasPrefix(effect.cron + "\n") }) ?? true else { return .success(()) }
            try effect.setNext(after: effect.environment.time.now(), generation: (stored?.generation ?? 0) + 1, writer)
            return .success(())
        }
    }

    /// Gives people their turns, or makes one person's digest.
    package func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) {
        let effect = self
        try await environment.store.writing { writer throws(StoreError) in
            if timer.subject == Self.everybody {
                try effect.begin(timer, now, writer)
            } else {
                try effect.tell(UserID(timer.subject), timer, now, writer)
            }
            return .success(())
        }
    }

    private func setNext(after now: Timestamp, generation: Int64, _ writer: any StoreWriter) throws(StoreError) {
        guard let dueAt = (try? CronLine(cron))?.next(after: now, in: .utc) else { return }
        try writer.set(
            TimerEntry(
                kind: .digest,
                subject: Self.everybody,
                dueAt: dueAt,
                generation: generation,
                payload: cron + "\n"
            )
        )
    }

    /// The payload says behind the line who had their turn last.
    private func begin(_ timer: TimerEntry, _ now: Timestamp, _ writer: any StoreWriter) throws(StoreError) {
        let last = timer.payload.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().joined()
        let users = try writer.unlocked.digestUsers(after: last, limit: Self.usersAtOnce)
        guard try writer.claim(timer) else { return }
        for user in users {
            try writer.setUnlessThere(TimerEntry(kind: .digest, subject: user.text, dueAt: now))
        }
        guard users.count == Self.usersAtOnce, let next = users.last else {
            return try setNext(after: now, generation: timer.generation + 1, writer)
        }
        var rest = timer
        (rest.dueAt, rest.generation, rest.payload) = (now, timer.generation + 1, cron + "\n" + next.text)
        try writer.set(rest)
    }

    private func tell(
        _ user: UserID,
        _ timer: TimerEntry,
        _ now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let standing = try writer.unlocked.standings(of: [user], tokensAt: nil)[user]
        guard case .person(let person) = rights.receiver(user, standing, now: now) else {
            _ = try writer.claim(timer)
            return
        }
        let own = TopicID(Self.topicPrefix + DerivedUUID.text(of: "digests", person.owner))
        let topics = try writer.unlocked.digestWindows(of: user).filter { $0.count > 0 }.map(\.topicID)
            // A digest does not tell of digests.
            .filter { $0 != own }
        guard !topics.isEmpty else {
            _ = try writer.claim(timer)
            return
        }
        // Under the locks of the topics their numbers stand still: no message is in two windows.
        let held = try writer.hold((topics + [own]).sorted(), of: rights.topics, feedsOf: [person.owner])
        let windows = try writer.digestWindows(of: user).filter { topics.contains($0.topicID) && $0.count > 0 }
        guard try writer.claim(timer) else { return }
        let readable = windows.filter { window in
            held.topics[window.topicID].map { mayRead($0.record, person) } ?? false
        }
        if !readable.isEmpty, try publish(readable, to: own, of: person, timer, writer) == false { return }
        for window in windows { try writer.setDigestNumber(window.last, of: user, in: window.topicID) }
    }

    private func mayRead(_ record: Record, _ person: Identity) -> Bool {
        guard case .allow(let readable) = AccessPolicy.decision(.read, on: record.model, for: person) else {
            return false
        }
        return readable.matches(record)
    }

    /// False when the rules let the person publish nothing, not even to a topic of their own.
    private func publish(
        _ windows: [DigestWindow],
        to topic: TopicID,
        of person: Identity,
        _ timer: TimerEntry,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Bool {
        var found: [(record: Record, topic: String)] = []
        for window in windows {
            let first = max(window.told + 1, window.first, window.last - Self.searched + 1)
            guard first <= window.last else { continue }
            let weightiest = try writer.unlocked.weightiestMessages(
                rights.messages,
                of: window.topicID,
                numbers: first...window.last,
                limit: Self.told
            )
            found += weightiest.filter { mayRead($0, person) }.map { (record: $0, topic: window.name) }
        }
        found.sort { ($0.record["priority"].int ?? 3, $0.record.id) > ($1.record["priority"].int ?? 3, $1.record.id) }
        try prepare(topic, of: person, writer)
        let total = windows.reduce(0) { $0 + $1.count }
        let lines =
            windows.map { "\($0.name): \($0.count)" }
            + found.prefix(Self.told).map { "– \($0.record["title"].text ?? "") (\($0.topic))" }
        let input: RecordInput = [
            "topicId": .text(topic.text),
            "title": .text(total.counting("new message") + " in " + Int64(windows.count).counting("topic")),
            "body": .text(lines.joined(separator: "\n")), "type": .int(0),
            "key": .text("digest/\(timer.generation)/\(timer.dueAt.milliseconds / 1000)"),
        ]
        let draft: MessageDraft
        do throws(ServiceError) {
            draft = try messages.draft(input, caller: person)
        } catch {
            return false
        }
        let outcomes = try MessageDraft.perform([draft], writer)
        try writer.awaitAnswers()
        guard case .success? = outcomes().first else { return false }
        return true
    }

    /// Makes the person's topic of digests, of which they get pushes.
    private func prepare(_ id: TopicID, of person: Identity, _ writer: any StoreWriter) throws(StoreError) {
        let stored = try writer.records(rights.topics, ids: [id.text], where: .always).first
        let (factory, now) = (RecordFactory(model: rights.topics), environment.changeTime())
        if let stored {
            guard stored.isDeleted else { return }
            var revived = factory.changed(stored, by: [:], at: now)
            revived["_deleted"] = .null
            try writer.update(revived)
        } else {
            let input: RecordInput = [
                "name": .text("digests"), "arn": .text("arn:tocsin:topic:\(person.username):digests"),
            ]
            let topic = factory.make(input, id: id.text, caller: person, at: now)
            _ = try writer.insert(topic)
            writer.note(.created(topic))
        }
        if try writer.membership(of: person.userID, in: id) == nil {
            try writer.save(Membership(topicID: id, userID: person.userID, push: true, createdAt: now))
        }
    }
}
