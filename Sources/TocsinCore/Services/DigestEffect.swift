/// Tells people once a day what topics brought of which they want no single pushes: one message in
/// a topic of their own, which is pushed.
///
/// What a digest of their own tells of is left to that.
package struct DigestEffect: TimerEffect {
    private let environment: ServiceEnvironment
    private let digests: DigestTopic
    private let cron: String
    private var rights: PushRights { digests.rights }
    private static let usersAtOnce = 500
    /// What names the timer of all digests.
    private static let everybody = ""

    /// - Parameter cron: When digests are made, in UTC.
    package init(environment: ServiceEnvironment, messages: MessageService, rights: PushRights, cron: String) {
        (self.environment, self.cron) = (environment, cron)
        digests = DigestTopic(environment: environment, messages: messages, rights: rights)
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
            try writer.setUnlessThere(TimerEntry(kind: .digest, subject: user.text, owner: user, dueAt: now))
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
        let own = digests.id(of: person)
        let topics = try Self.windows(of: user, try writer.unlocked.digests(of: user), writer.unlocked)
            .map(\.topicID)
            // A digest does not tell of digests.
            .filter { $0 != own }
        guard !topics.isEmpty else {
            _ = try writer.claim(timer)
            return
        }
        // Under the locks of the topics their numbers stand still: no message is in two windows.
        let held = try writer.hold((topics + [own]).sorted(), of: rights.topics, feedsOf: [person.owner])
        let windows = try Self.windows(of: user, try writer.digests(of: user), writer)
            .filter { topics.contains($0.topicID) }
        guard try writer.claim(timer) else { return }
        let roles = try digests.roles(of: person, in: windows.map(\.topicID), writer.unlocked)
        let readable = windows.filter { window in
            held.topics[window.topicID].map { digests.mayRead($0.record, person, roles) } ?? false
        }
        if !readable.isEmpty, try !publish(readable, for: person, timer, writer) { return }
        for window in windows { try writer.setDigestNumber(window.last, of: user, in: window.topicID) }
    }

    /// Topics with something new of which no digest of the person's own tells.
    private static func windows(
        of user: UserID,
        _ own: [PersonalDigest],
        _ reader: any StoreReader
    ) throws(StoreError) -> [DigestWindow] {
        try reader.digestWindows(of: user).filter { window in
            window.count > 0 && !own.contains { $0.plan.tells(of: window.topicID, isDigestMember: true) }
        }
    }

    /// False when the person may not have it.
    private func publish(
        _ windows: [DigestWindow],
        for person: Identity,
        _ timer: TimerEntry,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Bool {
        let counts = windows.map { DigestTopic.Count(window: $0, count: $0.count) }
        let text = try digests.text(of: counts, for: person, writer.unlocked)
        let key = "digest/\(timer.generation)/\(timer.dueAt.milliseconds / 1000)"
        let content = DigestTopic.Content(title: text.title, body: text.body, key: key)
        return try digests.publish(content, for: person, writer) != nil
    }
}
