import Metrics

/// What an owner, a user or a topic may have so many of.
package enum Quota: String, MetricLabel {
    /// The label's name.
    package static let labelName = "quota"

    /// `members` are those of a group, `groups` those that there are or that a user is in.
    case topics, devices, tokens, grants, groups, members, schedules, digests, storage
}

extension ServiceEnvironment {
    /// Writes what a quota may refuse, and counts it where it does.
    func writing<Value: Sendable>(
        within quota: Quota,
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> Value {
        // Outside of the body, which may run several times.
        let result = try await store.writing { writer throws(StoreError) in .success(try body(writer)) }
        if case .failure(.limit) = result { note(refusedBy: quota) }
        return try result.get()
    }

    /// Counts a refusal.
    func note(refusedBy quota: Quota) { metrics.refused[quota].add() }
}
