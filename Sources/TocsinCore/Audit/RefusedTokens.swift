import Synchronization

/// Folds tokens that were refused into few rows of the audit: one for each token, network and
/// minute, with a count.
///
/// A request only counts here; rows are written beside requests, once their minute is over. Beyond
/// `rowsPerMinute` the rest of a minute is one row.
package final class RefusedTokens: Sendable {
    /// Rows of one minute at most, the one for the rest included.
    package static let rowsPerMinute = 60

    /// A token that was refused, and why.
    package struct Refusal: Sendable {
        /// The token's id where its signature held, else some digits of its text's digest.
        package var token: String
        /// Whose token it is, where its signature held.
        package var user: UserID?
        /// Why it was refused, in the words of the answer.
        package var reason: String
        /// The client's address, of which the network is kept.
        package var address: String?

        /// A refusal of these parts.
        package init(token: String, user: UserID? = nil, reason: String, address: String?) {
            self.token = token
            self.user = user
            self.reason = reason
            self.address = address
        }
    }

    fileprivate struct Key: Hashable {
        var minute: Int64
        /// nil: the rest of a minute.
        var token: String?
        var network: String?
    }

    fileprivate struct Row {
        var refusal: Refusal
        var count: Int
        var first: Timestamp
        var last: Timestamp
    }

    fileprivate struct State {
        var rows: [Key: Row] = [:]
        /// Rows of the latest minute.
        var latest: (minute: Int64, count: Int) = (.min, 0)
    }

    private let state = Mutex(State())
    private let environment: ServiceEnvironment

    /// Refusals that are written to the store of `environment`.
    package init(environment: ServiceEnvironment) {
        self.environment = environment
    }

    /// Counts a refusal; never waits.
    package func note(_ refusal: Refusal) {
        let now = environment.time.now()
        let minute = now.milliseconds / 60_000
        let key = Key(minute: minute, token: refusal.token, network: RequestOrigin(address: refusal.address).network)
        state.withLock { $0.count(refusal, key, now) }
    }

    /// Writes the rows of minutes that are over, or all of them.
    package func write(all: Bool = false) async throws(ServiceError) {
        let minute = environment.time.now().milliseconds / 60_000
        let rows = state.withLock { $0.take(before: all ? .max : minute) }
        guard !rows.isEmpty else { return }
        let environment = environment
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            for (isRest, row) in rows { try writer.record(Self.event(of: row, isRest: isRest, environment)) }
            return .success(())
        }
    }

    private static func event(of row: Row, isRest: Bool, _ environment: ServiceEnvironment) -> AuditEvent {
        let refusal = row.refusal
        let token = isRest ? "" : refusal.token
        var actor = AuditActor.stranger
        actor.token = isRest ? nil : token
        var event = environment.audit(
            action: "token.refused",
            by: actor,
            on: .token(TokenID(isRest ? "others" : token), of: isRest ? nil : refusal.user),
            detail: [
                "count": .int(Int64(row.count)), "reason": isRest ? nil : .text(refusal.reason),
                "from": .text(row.first.iso8601), "until": .text(row.last.iso8601),
            ],
            outcome: .refused
        )
        event.origin = RequestOrigin(address: isRest ? nil : refusal.address)
        return event
    }

    /// Writes every few seconds what is due.
    package var task: PeriodicTask {
        PeriodicTask(
            .refusedTokens,
            everySeconds: 5,
            failure: "refused tokens could not be noted in the audit"
        ) { () async throws(ServiceError) in
            try await self.write()
            return 0
        }
    }
}

extension RefusedTokens.State {
    fileprivate mutating func count(
        _ refusal: RefusedTokens.Refusal,
        _ key: RefusedTokens.Key,
        _ now: Timestamp
    ) {
        var key = key
        if key.minute != latest.minute { latest = (key.minute, 0) }
        // The last row is for all others.
        if rows[key] == nil, latest.count >= RefusedTokens.rowsPerMinute - 1 { (key.token, key.network) = (nil, nil) }
        guard var row = rows[key] else {
            rows[key] = RefusedTokens.Row(refusal: refusal, count: 1, first: now, last: now)
            latest.count += 1
            return
        }
        row.count += 1
        row.last = now
        rows[key] = row
    }

    fileprivate mutating func take(before minute: Int64) -> [(isRest: Bool, row: RefusedTokens.Row)] {
        let due = rows.filter { $0.key.minute < minute }
        for key in due.keys { rows[key] = nil }
        return due.sorted { $0.value.first < $1.value.first }.map { ($0.key.token == nil, $0.value) }
    }
}
