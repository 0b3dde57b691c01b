import TocsinCore

private enum SQL {
    static let keys = "SELECT id, name, digest, created_at, expires_at, revoked_at FROM api_keys"
    static let all = keys + " ORDER BY id"
    static let revoked = keys + " WHERE revoked_at IS NOT NULL ORDER BY id"
    static let one = keys + " WHERE digest = $1"
    static let save = """
        INSERT INTO api_keys (id, name, digest, created_at, expires_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, digest = excluded.digest,
            created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at
        """
}

extension SQLReading {
    func apiKey(digest: String) throws(StoreError) -> APIKey? {
        try connection.first(SQL.one + lock("api_keys"), [.text(digest)], APIKey.init)
    }

    func apiKeys() throws(StoreError) -> [APIKey] {
        try connection.all(SQL.all, [], APIKey.init)
    }

    func revokedAPIKeys() throws(StoreError) -> [APIKey] {
        try connection.all(SQL.revoked, [], APIKey.init)
    }
}

extension SQLWriter {
    func save(_ key: APIKey) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(key.id.text), .text(key.name), .text(key.digest), SQLValue(key.createdAt),
                SQLValue(key.expiresAt), SQLValue(key.revokedAt),
            ]
        )
    }
}

extension APIKey {
    fileprivate init(_ row: any SQLRow) {
        self.init(
            id: TokenID(row.text(0)),
            name: row.text(1),
            digest: row.text(2),
            createdAt: row.moment(3),
            expiresAt: row.moment(4),
            revokedAt: row.optionalMoment(5)
        )
    }
}
