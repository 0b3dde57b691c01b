/// Digests that people make for themselves: only their owners see and change them.
package struct DigestService: Sendable {
    private let environment: ServiceEnvironment
    private let rights: PushRights
    private let checks: InputChecks
    private var topics: ModelType { rights.topics }

    /// Digests of one user.
    package static let maximumOfUser = 20
    private static let maximumTopics = 100
    private static let maximumNameBytes = 100
    private static let maximumURLBytes = 2000

    /// A service over one store.
    package init(environment: ServiceEnvironment, rights: PushRights) {
        (self.environment, self.rights) = (environment, rights)
        checks = InputChecks(limits: environment.limits)
    }

    /// Makes a digest of the caller's, of topics that they may read now.
    ///
    /// The same id with the same plan answers with what is stored.
    package func create(
        id: String?,
        _ plan: PersonalDigest.Plan,
        caller: Identity
    ) async throws(ServiceError) -> PersonalDigest {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        if let id { try checks.checkChosenID(id, field: "id") }
        let owner = ScheduledMessage.Owner(
            userID: caller.userID,
            username: caller.username,
            provider: caller.provider
        )
        var digest = PersonalDigest(
            id: id ?? environment.identifiers.makeID(),
            owner: owner,
            plan: plan,
            createdAt: environment.time.now()
        )
        digest.nextAt = try checkedNext(plan)
        let (service, made) = (self, digest)
        return try await environment.writing(within: .digests) { writer throws(StoreError) in
            try service.insert(made, by: caller, writer)
        }
    }

    private func insert(
        _ digest: PersonalDigest,
        by caller: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<PersonalDigest, ServiceError> {
        let before = try writer.digests(of: caller.userID)
        if let stored = try writer.digest(digest.id) { return answer(to: digest, with: stored) }
        guard try mayRead(digest.plan.topicIDs, caller, writer.unlocked) else { return .failure(.unauthorized) }
        guard before.count < Self.maximumOfUser else {
            return .failure(.limit("You have \(before.count) digests; delete one before you make another."))
        }
        // Another node may have made one with this id since.
        guard try writer.insert(digest) else { return answer(to: digest, with: try writer.digest(digest.id)) }
        try setPlaces(of: digest, replacing: nil, among: before, writer)
        try follow(digest, by: caller, writer)
        return .success(digest)
    }

    /// What a caller is told whose id is in use.
    private func answer(
        to digest: PersonalDigest,
        with stored: PersonalDigest?
    ) -> Result<PersonalDigest, ServiceError> {
        guard let stored, stored.owner.userID == digest.owner.userID, stored.plan == digest.plan else {
            return .failure(.conflict(nil))
        }
        return .success(stored)
    }

    /// Changes a digest of the caller's; `change` gets its plan.
    package func update(
        _ id: String,
        caller: Identity,
        change: @escaping @Sendable (inout PersonalDigest.Plan) -> Void
    ) async throws(ServiceError) -> PersonalDigest {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            let before = try writer.digests(of: caller.userID)
            guard let old = before.first(where: { $0.id == id }) else { return .failure(.unauthorized) }
            var digest = old
            change(&digest.plan)
            do throws(ServiceError) {
                let next = try service.checkedNext(digest.plan)
                // A time that is due already comes all the same.
                if digest.plan.cron != old.plan.cron || digest.plan.timeZone != old.plan.timeZone {
                    digest.nextAt = next
                }
            } catch {
                return .failure(error)
            }
            if digest.plan.topicIDs != old.plan.topicIDs,
                try !service.mayRead(digest.plan.topicIDs, caller, writer.unlocked)
            {
                return .failure(.unauthorized)
            }
            (digest.owner.username, digest.owner.provider) = (caller.username, caller.provider)
            (digest.updatedAt, digest.generation) = (service.environment.time.now(), digest.generation + 1)
            try writer.save(digest)
            try service.setPlaces(of: digest, replacing: old, among: before, writer)
            try service.tidyPlaces(of: caller.userID, before.filter { $0.id != id } + [digest], writer)
            try service.follow(digest, by: caller, writer)
            return .success(digest)
        }
    }

    /// Removes a digest of the caller's; answers what it was.
    package func delete(_ id: String, caller: Identity) async throws(ServiceError) -> PersonalDigest {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            let before = try writer.digests(of: caller.userID)
            guard let digest = before.first(where: { $0.id == id }) else { return .failure(.unauthorized) }
            try writer.removeDigest(id)
            try service.tidyPlaces(of: caller.userID, before.filter { $0.id != id }, writer)
            try writer.removeTimer(.ownDigest, of: id)
            return .success(digest)
        }
    }

    /// A digest of the caller's; nil when there is none with this id.
    package func digest(_ id: String, caller: Identity) async throws(ServiceError) -> PersonalDigest? {
        try await digests(caller: caller).first { $0.id == id }
    }

    /// The caller's digests, by id.
    package func digests(caller: Identity) async throws(ServiceError) -> [PersonalDigest] {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.digests(of: caller.userID)
        }
    }

    /// Writes what goes with a digest: what is known of its owner, and its timer.
    private func follow(
        _ digest: PersonalDigest,
        by caller: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        if let facts = UserFacts(of: caller, naming: rights.notedClaims, at: environment.time.now()) {
            try writer.save(facts)
        }
        if let timer = digest.timer { try writer.set(timer) }
    }
}

// MARK: Checks

extension DigestService {
    /// When a plan comes next, once it has been checked but for its topics' readers.
    private func checkedNext(_ plan: PersonalDigest.Plan) throws(ServiceError) -> Timestamp? {
        try checks.checkText(plan.name, field: "name", maximumBytes: Self.maximumNameBytes)
        guard !plan.name.isEmpty else { throw .badInput("name is empty; write what the digest's messages begin with.") }
        guard plan.days != [] else { throw .badInput("days is empty; name days, such as [MO, FR], or leave it out.") }
        guard (1...5).contains(plan.minPriority) else {
            throw .badInput("minPriority must be 1 to 5; it is \(plan.minPriority).")
        }
        guard (1...Self.maximumTopics).contains(plan.topicIDs?.count ?? 1) else {
            throw .badInput(
                "topicIds has \(plan.topicIDs?.count ?? 0) topics; write 1 to \(Self.maximumTopics), or leave it out for all "
                    + "topics that you get with delivery DIGEST."
            )
        }
        if let url = plan.url { try checks.checkText(url, field: "url", maximumBytes: Self.maximumURLBytes) }
        let zone = try environment.zones.zone(ofInput: plan.timeZone, field: "timeZone")
        return (try? CronLine(plan.cron))?.next(after: environment.time.now(), in: zone)
    }

    private func mayRead(
        _ topicIDs: [TopicID]?,
        _ caller: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> Bool {
        guard let topicIDs else { return true }
        guard case .allow(let readable) = AccessPolicy.decision(.read, on: topics, for: caller),
            // They are kept a line each.
            topicIDs.allSatisfy({ !$0.text.utf8.contains(UInt8(ascii: "\n")) })
        else { return false }
        let found = try reader.records(topics, ids: topicIDs.map(\.text), where: readable)
        return Set(found.filter { !$0.isDeleted }.map(\.id)).count == Set(topicIDs).count
    }
}

// MARK: How far digests have told

extension DigestService {
    /// Lets a digest begin where the person's digests ended: those of its own priority, what it
    /// was before a change, or the server's.
    ///
    /// Where others told already, it begins now.
    private func setPlaces(
        of digest: PersonalDigest,
        replacing old: PersonalDigest?,
        among before: [PersonalDigest],
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let (user, plan) = (digest.owner.userID, digest.plan)
        let places = try writer.unlocked.digestPlaces(of: user)
        let memberships = try writer.unlocked.digestWindows(of: user)
        var named: [DigestWindow]?
        if let topics = plan.topicIDs { named = try writer.unlocked.windows(of: topics) }
        for window in named ?? memberships {
            let topic = window.topicID
            let ofTopic = places.filter { $0.topicID == topic }
            guard !ofTopic.contains(where: { $0.minPriority == plan.minPriority }) else { continue }
            let membership = memberships.first { $0.topicID == topic }
            func tells(_ other: PersonalDigest) -> Bool {
                other.plan.tells(of: topic, isDigestMember: membership != nil)
            }
            var number = membership?.told ?? window.last
            if let old, tells(old), let place = ofTopic.first(where: { $0.minPriority == old.plan.minPriority }) {
                number = place.number
            } else if before.contains(where: tells) {
                number = window.last
            }
            try writer.save(DigestPlace(topicID: topic, minPriority: plan.minPriority, number: number), of: user)
        }
    }

    /// Removes places that no digest goes on from; the server's digest goes on from the last one.
    private func tidyPlaces(
        of user: UserID,
        _ digests: [PersonalDigest],
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let windows = try writer.unlocked.digestWindows(of: user)
        let told = Dictionary(windows.map { ($0.topicID, $0.told) }) { first, _ in first }
        var ends: [TopicID: MessageNumber] = [:]
        for place in try writer.unlocked.digestPlaces(of: user) {
            let isDigestMember = told[place.topicID] != nil
            let tellers = digests.filter { $0.plan.tells(of: place.topicID, isDigestMember: isDigestMember) }
            guard !tellers.contains(where: { $0.plan.minPriority == place.minPriority }) else { continue }
            if tellers.isEmpty { ends[place.topicID] = max(ends[place.topicID] ?? 0, place.number) }
            try writer.remove(place, of: user)
        }
        for (topic, number) in ends.sorted(by: { $0.key.text < $1.key.text }) {
            guard let last = told[topic], last < number else { continue }
            try writer.setDigestNumber(number, of: user, in: topic)
        }
    }
}
