package import Encodings

/// Tokens of local users: made, narrowed, rotated and revoked by who they belong to, or by an
/// operator at the data, who is no caller.
///
/// Locks are taken in one order: topics, the account, tokens, devices.
package struct TokenService: Sendable {
    let environment: ServiceEnvironment
    let topics: ModelType?

    /// What a new token is to be.
    package struct Order: Sendable {
        /// What to call it in lists.
        package var name: String
        /// Whose token it is.
        package var userID: UserID
        /// What it may do.
        package var scope: Identity.Scope
        /// Where it may be used from; empty: anywhere.
        package var networks: [AddressNetwork] = []
        /// When it ends; nil: when its life is over.
        package var expiresAt: Timestamp?
        /// How long it lives; nil: 30 days, or the longest life.
        package var lifetimeSeconds: Double?

        /// An order for a token that may be used anywhere; what else it is to be is set afterwards.
        package init(name: String, for userID: UserID, scope: Identity.Scope) {
            (self.name, self.userID, self.scope) = (name, userID, scope)
        }
    }

    /// A token that was just made, and its text, which is shown once.
    package struct Made: Sendable {
        /// The row.
        package var token: IssuedToken
        /// What its bearer sends; stored nowhere.
        package var text: String
    }

    /// A token without a word on its life ends after so many seconds.
    static let usualSeconds = 30.0 * 86_400

    /// A service over the store of `environment`; `topics` are those that scopes may name.
    package init(environment: ServiceEnvironment, topics: ModelType? = nil) {
        (self.environment, self.topics) = (environment, topics)
    }

    /// Tokens of the caller, or of `user` where the caller may manage theirs, by age.
    ///
    /// Those that were revoked are among them.
    package func tokens(
        of user: UserID?,
        after id: TokenID?,
        limit: Int,
        by caller: Identity?
    ) async throws(ServiceError) -> (tokens: [IssuedToken], hasMore: Bool) {
        if let caller {
            guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
            if let user, user != caller.userID {
                let account = try await account(user)
                guard reach(of: caller, over: user, account) != .nothing else { throw .unauthorized }
            }
        }
        let user = user ?? caller?.userID
        let found = try await environment.store.reading(for: caller?.reads ?? .server) { reader throws(StoreError) in
            try reader.tokens(of: user, after: id, limit: limit + 1)
        }
        return (Array(found.prefix(limit)), found.count > limit)
    }

    /// Makes a token; nothing of it is stored unless its text could be made.
    package func create(_ order: Order, by caller: Identity?) async throws(ServiceError) -> Made {
        try checkMaker(caller)
        let name = try Self.checked(name: order.name)
        let found = try await account(order.userID)
        guard reach(of: caller, over: order.userID, found) == .all, mayGive(order.scope, caller) else {
            throw .unauthorized
        }
        try await requireElevation(of: caller, toGive: order.scope, to: order.userID)
        let networks = try networks(order.networks, by: caller)
        guard let account = found else { throw Self.notLocal }
        let now = environment.time.now()
        let longest = environment.limits.tokenSeconds
        let end = order.expiresAt ?? now.adding(seconds: order.lifetimeSeconds ?? min(Self.usualSeconds, longest))
        try checkLife(from: now, to: end)
        var token = IssuedToken(
            id: TokenID(environment.identifiers.makeID()),
            userID: account.id,
            scope: order.scope,
            createdAt: now,
            expiresAt: end
        )
        (token.name, token.networks, token.createdBy) = (name, networks, caller?.userID)
        let text = try text(of: token, for: account)
        try await insert(token, by: caller)
        return Made(token: token, text: text)
    }

    /// Inserts the row of a new token, if its account may have one more.
    private func insert(_ token: IssuedToken, by caller: Identity?) async throws(ServiceError) {
        let (service, now) = (self, token.createdAt)
        try await environment.writing(within: .tokens) { writer throws(StoreError) -> Result<Void, ServiceError> in
            if let topic = try service.unknownTopic(of: token.scope, for: caller, writer) {
                return .failure(.badInput(Self.noTopic(topic, caller)))
            }
            if let refusal = try service.refusal(of: token.userID, now, needsRoom: true, caller, writer) {
                return .failure(refusal)
            }
            try service.insert(token, writer)
            try writer.record(service.audit("token.create", token, by: caller, Self.detail(of: token)))
            return .success(())
        }
    }

    private static func noTopic(_ topic: String, _ caller: Identity?) -> String {
        let isSeen = caller == nil ? "" : " that you may see"
        return "There is no topic \(topic)\(isSeen). Give the id of one."
    }

    private func insert(_ token: IssuedToken, _ writer: any StoreWriter) throws(StoreError) {
        try writer.removeTokens(
            of: token.userID,
            endedBefore: token.createdAt.adding(seconds: -Self.endedSeconds),
            keeping: Self.keptEnded
        )
        try writer.save(token)
    }

    /// Makes a token of the same rights and length of life; the old one ends after the overlap.
    ///
    /// Devices that are bound to the old one are bound to the new one.
    package func rotate(
        _ id: TokenID,
        overlapSeconds: Int64,
        by caller: Identity?
    ) async throws(ServiceError) -> Made {
        try checkMaker(caller)
        guard (0...Self.longestOverlap).contains(overlapSeconds) else {
            throw .badInput("The overlap is 0 to \(Self.longestOverlap) seconds (30 days); it is \(overlapSeconds).")
        }
        let (old, account) = try await rotatable(id, by: caller)
        guard mayGive(old.scope, caller) else { throw .unauthorized }
        try await requireElevation(of: caller, toGive: old.scope, to: old.userID)
        guard try networks(old.networks, by: caller) == old.networks else {
            throw .badInput(
                "Token \(id) may be used from more networks than yours. Rotate it by a token that may, too."
            )
        }
        let now = environment.time.now()
        let life = Double(old.expiresAt.milliseconds - old.createdAt.milliseconds) / 1000
        var token = IssuedToken(
            id: TokenID(environment.identifiers.makeID()),
            userID: old.userID,
            scope: old.scope,
            createdAt: now,
            expiresAt: now.adding(seconds: min(max(life, 60), environment.limits.tokenSeconds))
        )
        (token.name, token.networks, token.createdBy) = (old.name, old.networks, caller?.userID)
        let made = Made(token: token, text: try text(of: token, for: account))
        let (service, new) = (self, token)
        try await environment.writing(within: .tokens) { writer throws(StoreError) -> Result<Void, ServiceError> in
            if let refusal = try service.refusal(of: new.userID, now, needsRoom: false, caller, writer) {
                return .failure(refusal)
            }
            guard var row = try writer.token(id) else { return .failure(service.missing(id, caller)) }
            if let refusal = Self.refusalOfRotation(row, like: new, at: now) { return .failure(refusal) }
            try service.insert(new, writer)
            row.rotatedTo = new.id
            try service.end(&row, at: min(row.expiresAt, now.adding(seconds: Double(overlapSeconds))), now, writer)
            try writer.save(row)
            for var device in try writer.devices(boundTo: id) {
                device.binding = .token(new.id)
                try writer.save(device)
            }
            var detail = Self.detail(of: new)
            detail["rotatedTo"] = .text(new.id.text)
            try writer.record(service.audit("token.rotate", row, by: caller, detail))
            return .success(())
        }
        return made
    }

    private static func refusalOfRotation(
        _ row: IssuedToken,
        like new: IssuedToken,
        at now: Timestamp
    ) -> ServiceError? {
        if let successor = row.rotatedTo { return .badInput("Token \(row.id) was rotated already, to \(successor).") }
        guard row.isGood(at: now) else { return .badInput("Token \(row.id) has ended. Create a new one.") }
        guard row.scope == new.scope, row.networks == new.networks else {
            return .badInput("Token \(row.id) was changed meanwhile. Rotate it again.")
        }
        return nil
    }

    /// Sets the end of a token, which sockets of all nodes then keep.
    ///
    /// Nodes that are told of nothing look within ten seconds, so a later end needs no word.
    func end(_ row: inout IssuedToken, at end: Timestamp, _ now: Timestamp, _ writer: any StoreWriter)
        throws(StoreError)
    {
        guard end != row.expiresAt else { return }
        (row.expiresAt, row.changedAt) = (end, now)
        if end <= now.adding(seconds: Self.toldSeconds) { writer.note(.accessEnded(row.userID, row.id)) }
    }

    /// Revokes a token; revoking it again changes nothing.
    ///
    /// Devices that are bound to it are retired, and what waits for them ends.
    package func revoke(_ id: TokenID, by caller: Identity?) async throws(ServiceError) -> IssuedToken {
        try checkMaker(caller)
        let (service, now) = (self, environment.time.now())
        return try await environment.store.writing { writer throws(StoreError) in
            let held = try service.held(id, by: caller, now, writer)
            guard case .success(let row) = held else { return held }
            return .success(try service.revoke(row, now, by: caller, writer))
        }
    }

    /// Revokes all good tokens of a user; answers how many there were.
    package func revokeAll(of user: UserID, by caller: Identity?) async throws(ServiceError) -> Int {
        try checkMaker(caller)
        let (service, now) = (self, environment.time.now())
        return try await environment.store.writing { writer throws(StoreError) in
            let account = try writer.account(user)
            guard service.reach(of: caller, over: user, account) != .nothing,
                try service.isStillIn(caller, now, writer)
            else { return .failure(.unauthorized) }
            let rows = try writer.tokens(of: user).filter { $0.isGood(at: now) }
            for row in rows { _ = try service.revoke(row, now, by: caller, writer) }
            return .success(rows.count)
        }
    }

    private func revoke(
        _ row: IssuedToken,
        _ now: Timestamp,
        by caller: Identity?,
        _ writer: any StoreWriter
    ) throws(StoreError) -> IssuedToken {
        var row = row
        if row.revokedAt == nil { try writer.record(audit("token.revoke", row, by: caller)) }
        row.revokedAt = row.revokedAt ?? now
        try writer.save(row)
        for device in try writer.devices(boundTo: row.id) { try end(device, now, by: caller, writer) }
        writer.note(.accessEnded(row.userID, row.id))
        return row
    }

    /// Ends a device with its sign-in; its row stays, and registering it again revives it.
    private func end(
        _ device: Device,
        _ now: Timestamp,
        by caller: Identity?,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let reason = DeliveryReason.accessEnded
        try writer.endDeliveries(of: device.id, reason: reason, now: now)
        guard try writer.retireDevice(device.id, reason: reason, registeredBy: max(now, device.registeredAt)) else {
            return
        }
        writer.note(.deviceEnded(device.id, reason: reason))
        try writer.record(environment.audit(endOf: device, by: Self.actor(caller), reason: reason))
        try environment.raise(.unregistered(device, reason: reason), writer)
    }
}
