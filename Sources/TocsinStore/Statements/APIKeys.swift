import Encodings
import TocsinCore

private enum SQL {
    static let keys = """
        SELECT id, name, digest, created_at, expires_at, revoked_at, cidrs, last_used_at, last_used_from FROM api_keys
        """
    static let all = keys + " ORDER BY id"
    static let revoked = keys + " WHERE revoked_at IS NOT NULL ORDER BY id"
    static let one = keys + " WHERE digest IN ($1, $2)"
    static let save = """
        INSERT INTO api_keys (id, name, digest, created_at, expires_at, revoked_at, cidrs)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, digest = excluded.digest,
            created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
            cidrs = excluded.cidrs
        """
}

extension SQLReading {
    func apiKey(digest: String) throws(StoreError) -> APIKey? {
        try connection.first(
            SQL.one + lock("api_keys"),
            [.text(digest), .text(StoredDigest.networked + digest)],
            APIKey.init
        )
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
                .text(key.id.text), .text(key.name), .text(StoredDigest.text(of: key)), SQLValue(key.createdAt),
                SQLValue(key.expiresAt), SQLValue(key.revokedAt), SQLValue(StoredNetworks.text(key.networks)),
            ]
        )
    }
}

/// The digest of a key for some networks, under which older programs, that know no networks, do not
/// find it.
private enum StoredDigest {
    static let networked = "row:"

    static func text(of key: APIKey) -> String { key.networks.isEmpty ? key.digest : networked + key.digest }

    static func digest(of text: String) -> String {
        text.hasPrefix(networked) ? String(text.dropFirst(networked.count)) : text
    }
}

extension APIKey {
    fileprivate init?(_ row: any SQLRow) {
        guard let networks = StoredNetworks.networks(row.optionalText(6)) else { return nil }
        self.init(
            id: TokenID(row.text(0)),
            name: row.text(1),
            digest: StoredDigest.digest(of: row.text(2)),
            createdAt: row.moment(3),
            expiresAt: row.moment(4),
            revokedAt: row.optionalMoment(5)
        )
        self.networks = networks
        lastUsedAt = row.optionalMoment(7)
        lastUsedFrom = row.optionalText(8)
    }
}
