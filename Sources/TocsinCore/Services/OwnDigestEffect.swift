/// Makes the digests that people have asked for, each at its own time.
package struct OwnDigestEffect: TimerEffect {
    private let environment: ServiceEnvironment
    private let digests: DigestTopic
    /// Of a topic's new messages so many of the last are counted by their priority.
    private static let counted: Int64 = 100_000

    /// - Parameter rights: Who may still get pushes.
    package init(environment: ServiceEnvironment, messages: MessageService, rights: PushRights) {
        self.environment = environment
        digests = DigestTopic(environment: environment, messages: messages, rights: rights)
    }

    /// One timer a digest.
    package let kinds: Set<TimerEntry.Kind> = [.ownDigest]

    /// What a digest found before the write: messages up to a number stand still once they are
    /// committed, so they are counted here, where nobody waits.
    private struct Seen: Sendable {
        let digest: PersonalDigest
        let times: (missed: Int, next: Timestamp?)
        /// Nil: the account is disabled or gone.
        var person: Identity?
        /// All that it tells of, also where nothing came.
        var windows: [DigestWindow] = []
        /// Nil: there is nothing to tell.
        var text: (title: String, body: String)?
    }

    /// Looks at what came, writes it, and sets the next time.
    package func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) {
        let effect = self
        let seen = try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try effect.look(timer, now, reader)
        }
        try await environment.store.writing { writer throws(StoreError) in
            .success(try effect.write(seen, timer, now, writer))
        }
    }

    private func look(_ timer: TimerEntry, _ now: Timestamp, _ reader: any StoreReader) throws(StoreError) -> Seen? {
        guard let digest = try reader.digest(timer.subject) else { return nil }
        var seen = Seen(digest: digest, times: times(of: digest, now: now))
        let user = digest.owner.userID
        let standing = try reader.standings(of: [user], tokensAt: nil)[user]
        guard case .person(let person) = digests.rights.receiver(user, standing, now: now) else { return seen }
        seen.person = person
        seen.windows = try windows(of: digest, person, reader)
        let counts = try counts(of: seen.windows, digest, person, reader)
        if !counts.isEmpty || !digest.plan.skipsEmpty {
            seen.text = try digests.text(of: counts, from: digest.plan.minPriority, for: person, reader)
        }
        return seen
    }

    private func times(of digest: PersonalDigest, now: Timestamp) -> (missed: Int, next: Timestamp?) {
        guard let line = try? CronLine(digest.plan.cron) else { return (0, nil) }
        let zone = environment.zones.zone(named: digest.plan.timeZone) ?? .utc
        let missed = digest.nextAt.map { line.missed(since: $0, until: now, in: zone) } ?? 0
        return (missed, line.next(after: now, in: zone))
    }

    /// The topics that it tells of, from where the last one ended.
    private func windows(
        of digest: PersonalDigest,
        _ person: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> [DigestWindow] {
        let (user, plan) = (digest.owner.userID, digest.plan)
        var places: [TopicID: MessageNumber] = [:]
        for place in try reader.digestPlaces(of: user) where place.minPriority == plan.minPriority {
            places[place.topicID] = place.number
        }
        let found =
            if let topics = plan.topicIDs {
                try reader.windows(of: topics)
            } else {
                try reader.digestWindows(of: user)
            }
        return found.filter { $0.topicID != digests.id(of: person) }
            .map { window in
                var window = window
                let place = places[window.topicID] ?? window.told
                window.told = plan.topicIDs == nil ? max(place, window.told) : place
                return window
            }
    }

    /// What the person may read of it now, where something came.
    private func counts(
        of windows: [DigestWindow],
        _ digest: PersonalDigest,
        _ person: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> [DigestTopic.Count] {
        let news = windows.filter { $0.count > 0 }
        let roles = try digests.roles(of: person, in: news.map(\.topicID), reader)
        var counts: [DigestTopic.Count] = []
        for window in news {
            let record = try reader.records(digests.rights.topics, ids: [window.topicID.text], where: .always).first
            guard let record, digests.mayRead(record, person, roles) else { continue }
            let count = try count(of: window, from: digest.plan.minPriority, reader)
            if count > 0 { counts.append(DigestTopic.Count(window: window, count: count)) }
        }
        return counts
    }

    private func count(
        of window: DigestWindow,
        from minPriority: Int64,
        _ reader: any StoreReader
    ) throws(StoreError) -> Int64 {
        guard minPriority > 1 else { return window.count }
        let first = max(window.told + 1, window.first, window.last - Self.counted + 1)
        guard first <= window.last else { return 0 }
        return try reader.messageCount(of: window.topicID, numbers: first...window.last, minPriority: minPriority)
    }
}

extension OwnDigestEffect {
    private func write(
        _ seen: Seen?,
        _ timer: TimerEntry,
        _ now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        guard let seen else {
            _ = try writer.claim(timer)
            return
        }
        if let person = seen.person, seen.text != nil {
            // Feed and topic before the digest, as all writers lock them.
            _ = try writer.hold([digests.id(of: person)], of: digests.rights.topics, feedsOf: [person.owner])
        }
        let user = seen.digest.owner.userID
        let stored = try writer.digests(of: user).first { $0.id == timer.subject }
        guard var digest = stored, digest == seen.digest, digest.generation == timer.generation else {
            // Changed meanwhile: another timer stands for it.
            if stored?.generation != timer.generation { _ = try writer.claim(timer) }
            return
        }
        // Another digest may have told of the same since: then this one is looked at again.
        guard try stand(seen, writer.unlocked), try writer.claim(timer) else { return }
        if let person = seen.person {
            if let message = try publish(seen, to: person, writer) { digest.lastMessageID = message }
            (digest.lastAt, digest.missed) = (digest.nextAt, seen.times.missed)
            for window in seen.windows {
                let place = DigestPlace(
                    topicID: window.topicID,
                    minPriority: digest.plan.minPriority,
                    number: window.last
                )
                try writer.save(place, of: user)
            }
        }
        (digest.nextAt, digest.generation) = (seen.times.next, digest.generation + 1)
        try writer.save(digest)
        if let next = digest.timer { try writer.set(next) }
    }

    /// Whether nothing was told of since that was counted.
    private func stand(_ seen: Seen, _ reader: any StoreReader) throws(StoreError) -> Bool {
        guard let person = seen.person else { return true }
        let now = try windows(of: seen.digest, person, reader)
        let told = Dictionary(now.map { ($0.topicID, $0.told) }) { first, _ in first }
        return seen.windows.allSatisfy { window in told[window.topicID].map { $0 == window.told } ?? true }
    }

    private func publish(
        _ seen: Seen,
        to person: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> MessageID? {
        guard let text = seen.text else { return nil }
        let (digest, plan) = (seen.digest, seen.digest.plan)
        let since = (digest.lastAt ?? digest.createdAt).iso8601
        let dueAt = digest.nextAt ?? digest.createdAt
        let missed = seen.times.missed > 0 ? ",\"missed\":\"\(seen.times.missed)\"" : ""
        let content = DigestTopic.Content(
            title: "\(plan.name): \(text.title)",
            body: text.body,
            key: "digest/\(digest.id)/\(dueAt.milliseconds / 1000)",
            url: plan.url.map { Self.page($0, since: since) },
            data: "{\"summary\":\"digest\",\"since\":\"\(since)\"\(missed)}"
        )
        return try digests.publish(content, for: person, writer)
    }

    /// The page with the moment behind which its messages came.
    private static func page(_ url: String, since: String) -> String {
        let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let page = parts.first.map(String.init) ?? url
        let fragment = parts.count > 1 ? "#" + parts[1] : ""
        return page + (page.contains("?") ? "&" : "?") + "since=" + since + fragment
    }
}
