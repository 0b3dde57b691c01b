package import Encodings

// Changes of a token, which only ever take from it.
extension TokenService {
    /// What of a token is to change; nil stays.
    package struct Change: Sendable {
        /// Another name.
        package var name: String?
        /// A scope that the present one covers.
        package var scope: Identity.Scope?
        /// Networks inside the present ones.
        package var networks: [AddressNetwork]?
        /// An earlier end.
        package var expiresAt: Timestamp?

        /// No change.
        package init() {}
    }

    /// Changes a token's name, or narrows it: what was given by its text ends at once everywhere.
    package func update(_ id: TokenID, _ change: Change, by caller: Identity?) async throws(ServiceError) -> IssuedToken
    {
        try checkMaker(caller)
        if let name = change.name { _ = try Self.checked(name: name) }
        let (service, now) = (self, environment.time.now())
        return try await environment.store.writing { writer throws(StoreError) in
            let held = try service.held(id, by: caller, now, writer)
            guard case .success(var row) = held else { return held }
            if let refusal = Self.refusal(of: change, to: row, at: now) { return .failure(refusal) }
            try service.apply(change, to: &row, now, writer)
            try writer.save(row)
            try writer.record(service.audit("token.update", row, by: caller, Self.detail(of: row)))
            return .success(row)
        }
    }

    private func apply(
        _ change: Change,
        to row: inout IssuedToken,
        _ now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let before = row
        row.name = change.name ?? row.name
        row.scope = change.scope ?? row.scope
        row.networks = change.networks ?? row.networks
        if let end = change.expiresAt { try self.end(&row, at: end, now, writer) }
        guard row.scope != before.scope || row.networks != before.networks else { return }
        (row.changedAt, row.narrowedAt) = (now, now)
        writer.note(.accessEnded(row.userID, row.id))
    }

    private static func refusal(of change: Change, to row: IssuedToken, at now: Timestamp) -> ServiceError? {
        guard row.isGood(at: now) else { return .badInput("Token \(row.id) has ended.") }
        if let scope = change.scope, !row.scope.covers(scope) {
            return .badInput("A token is only narrowed; its scopes are \(row.scope.words.joined(separator: " ")).")
        }
        if let networks = change.networks, !row.networks.isEmpty {
            let isInside = networks.allSatisfy { network in row.networks.contains { $0.contains(network) } }
            guard isInside, !networks.isEmpty else {
                let texts = row.networks.map(\.description).joined(separator: " ")
                return .badInput("A token is only narrowed; its networks are \(texts).")
            }
        }
        if let end = change.expiresAt {
            guard end > now else { return .badInput("expiresAt must be in the future. To end a token, revoke it.") }
            guard end <= row.expiresAt else {
                return .badInput("A token's end only comes nearer; it is \(row.expiresAt.iso8601).")
            }
        }
        return nil
    }
}
