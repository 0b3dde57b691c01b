/// Removes grants that have ended by their time, with the memberships that rested on them.
///
/// Nothing waits for it: whoever asks what is granted compares the time.
package struct GrantReaper: Sendable {
    private let environment: ServiceEnvironment
    private let topics: ModelType
    private let memberships: LostMemberships
    private static let batch = 100
    private static let everySeconds = 1.0

    /// A reaper of grants of topics that `rights` knows.
    package init(environment: ServiceEnvironment, rights: PushRights) {
        self.environment = environment
        topics = rights.topics
        memberships = LostMemberships(environment: environment, rights: rights)
    }

    /// Removes all that has ended by now; answers how many.
    package func runOnce() async throws(ServiceError) -> Int {
        let (store, topics, memberships, batch) = (environment.store, topics, memberships, Self.batch)
        var total = 0
        var removed: [TopicGrant]
        repeat {
            guard !Task.isCancelled else { return total }
            let ended = try await store.reading(for: .server) { reader throws(StoreError) in
                try reader.endedGrants(limit: batch)
            }
            guard !ended.isEmpty else { break }
            removed = try await store.writing { writer throws(StoreError) in
                // Topics' rows before grants', in one order, as all writers lock them.
                let ids = Set(ended.map(\.topicID.text)).sorted()
                let held = try writer.records(topics, ids: ids, where: .always)
                var removed: [TopicGrant] = []
                for known in ended {
                    // It may have been given anew meanwhile.
                    guard let grant = try writer.grant(known.id), let end = grant.expiresAt, end == known.expiresAt
                    else { continue }
                    try writer.remove(grant, at: end)
                    writer.note(.grantsChanged(GrantChange(ending: grant.subject, in: grant.topicID)))
                    removed.append(grant)
                    guard case .user(let user) = grant.subject else { continue }
                    let topic = held.first { $0.id == grant.topicID.text }
                    if let topic { try memberships.end(of: user, in: topic, writer) }
                }
                return .success(removed)
            }
            for topic in Set(removed.filter { $0.subject.kind != .user }.map(\.topicID)) {
                try await memberships.end(in: topic)
            }
            total += removed.count
        } while removed.count >= batch
        return total
    }

    /// Runs every second.
    package var task: PeriodicTask {
        PeriodicTask(
            .grants,
            everySeconds: Self.everySeconds,
            failure: "grants that have ended could not be removed"
        ) { () async throws(ServiceError) in
            try await runOnce()
        }
    }
}
