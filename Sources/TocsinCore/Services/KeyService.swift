/// API keys, for the command line.
package struct KeyService: Sendable {
    /// A key lives ten years at most.
    package static let maximumLifetimeSeconds = 10.0 * 366 * 86_400

    private let environment: ServiceEnvironment

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment) {
        self.environment = environment
    }

    /// Records a key about to be shown, by the digest of its text; the name is 1 to 64 bytes
    /// without control characters.
    package func record(
        digest: String,
        name: String,
        lifetimeSeconds: Double
    ) async throws(ServiceError) -> APIKey {
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard isPrintable, (1...64).contains(name.utf8.count) else {
            throw .badInput("A key's name is 1 to 64 bytes without control characters.")
        }
        guard lifetimeSeconds >= 1, lifetimeSeconds <= Self.maximumLifetimeSeconds else {
            throw .badInput("A key lives from one second to ten years; this one would live \(lifetimeSeconds) s.")
        }
        let (environment, now) = (environment, environment.time.now())
        let key = APIKey(
            id: TokenID(environment.identifiers.makeID()),
            name: name,
            digest: digest,
            createdAt: now,
            expiresAt: now.adding(seconds: lifetimeSeconds)
        )
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            try writer.save(key)
            try writer.record(
                environment.audit(
                    action: "key.create",
                    by: .operator,
                    on: .key(key.id),
                    detail: ["name": .text(name), "expiresAt": .text(key.expiresAt.iso8601)]
                )
            )
            return .success(())
        }
        return key
    }

    /// All keys, by id: the order in which they were made.
    package func keys() async throws(ServiceError) -> [APIKey] {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in try reader.apiKeys() }
    }

    /// Revokes a key; revoking it again changes nothing.
    package func revoke(_ id: TokenID) async throws(ServiceError) {
        let (environment, time) = (environment, environment.time)
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            guard var key = try writer.apiKeys().first(where: { $0.id == id }) else {
                return .failure(.badInput("There is no API key \(id). `tocsin key list` shows all."))
            }
            if key.revokedAt == nil {
                try writer.record(environment.audit(action: "key.revoke", by: .operator, on: .key(id)))
            }
            key.revokedAt = key.revokedAt ?? time.now()
            try writer.save(key)
            writer.note(.accessEnded(key.identity.userID, key.id))
            return .success(())
        }
    }
}
