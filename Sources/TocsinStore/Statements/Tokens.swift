import Encodings
import TocsinCore

private enum SQL {
    static let columns = """
        id, user_id, scope, created_at, expires_at, revoked_at, name, scopes, cidrs, created_by, changed_at, rotated_to,
        narrowed_at
        """
    static let tokens = "SELECT \(columns), last_used_at, last_used_from FROM tokens"
    static let token = tokens + " WHERE id = $1"
    static let all = tokens + " ORDER BY id"
    static let allAfter = tokens + " WHERE id > $1 ORDER BY id LIMIT $2"
    static let ofUser = tokens + " WHERE user_id = $1 ORDER BY id"
    static let ofUserAfter = tokens + " WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    static let revoked = tokens + " WHERE revoked_at IS NOT NULL ORDER BY id"
    static let areChanged = "changed_at IS NOT NULL AND revoked_at IS NULL AND expires_at > $1"
    static let changed = tokens + " WHERE \(areChanged) ORDER BY id"
    static let counts = """
        SELECT count(*), count(CASE WHEN revoked_at IS NULL AND expires_at > $2 THEN 1 END) FROM tokens WHERE user_id = $1
        """
    static let save = """
        INSERT INTO tokens (\(columns), reads) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, scope = excluded.scope,
            created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
            name = excluded.name, scopes = excluded.scopes, cidrs = excluded.cidrs, created_by = excluded.created_by,
            changed_at = excluded.changed_at, rotated_to = excluded.rotated_to, narrowed_at = excluded.narrowed_at,
            reads = excluded.reads
        """
    static let ended = "user_id = $1 AND (revoked_at <= $2 OR expires_at <= $2)"
    static let removeEnded = """
        DELETE FROM tokens WHERE \(ended) AND id NOT IN (
            SELECT id FROM tokens WHERE \(ended) ORDER BY id DESC LIMIT $3)
        """
    static func use(of table: String) -> String {
        """
        UPDATE \(table) SET last_used_at = $2, last_used_from = $3
        WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $2)
        """
    }
    static let tokenUse = use(of: "tokens")
    static let keyUse = use(of: "api_keys")
}

extension SQLReading {
    func token(_ id: TokenID) throws(StoreError) -> IssuedToken? {
        try connection.first(SQL.token + lock("tokens"), [.text(id.text)], IssuedToken.init)
    }

    func tokens(of user: UserID?) throws(StoreError) -> [IssuedToken] {
        guard let user else { return try connection.all(SQL.all, [], IssuedToken.init) }
        return try connection.all(SQL.ofUser, [.text(user.text)], IssuedToken.init)
    }

    func tokens(of user: UserID?, after id: TokenID?, limit: Int) throws(StoreError) -> [IssuedToken] {
        let page: [SQLValue] = [.text(id?.text ?? ""), .int(Int64(limit))]
        guard let user else { return try connection.all(SQL.allAfter, page, IssuedToken.init) }
        return try connection.all(SQL.ofUserAfter, [.text(user.text)] + page, IssuedToken.init)
    }

    func tokenCounts(of user: UserID, at moment: Timestamp) throws(StoreError) -> (all: Int, good: Int) {
        try connection.first(SQL.counts, [.text(user.text), SQLValue(moment)]) {
            (Int($0.int(0)), Int($0.int(1)))
        } ?? (0, 0)
    }

    func changedTokens(endingAfter moment: Timestamp) throws(StoreError) -> [IssuedToken] {
        try connection.all(SQL.changed, [SQLValue(moment)], IssuedToken.init)
    }

    func revokedTokens() throws(StoreError) -> [IssuedToken] {
        try connection.all(SQL.revoked, [], IssuedToken.init)
    }
}

extension SQLWriter {
    func save(_ token: IssuedToken) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(token.id.text), .text(token.userID.text), .text(token.oldScope?.storedText ?? StoredScope.row),
                SQLValue(token.createdAt), SQLValue(token.expiresAt), SQLValue(token.revokedAt), .text(token.name),
                .text(token.scope.words.joined(separator: StoredScope.separator)),
                SQLValue(StoredNetworks.text(token.networks)),
                SQLValue(token.createdBy?.text), SQLValue(token.changedAt), SQLValue(token.rotatedTo?.text),
                SQLValue(token.narrowedAt),
                SQLValue(token.scope.readsAll),
            ]
        )
    }

    func removeTokens(of user: UserID, endedBefore moment: Timestamp, keeping count: Int) throws(StoreError) {
        try connection.run(SQL.removeEnded, [.text(user.text), SQLValue(moment), .int(Int64(count))])
    }

    func note(_ uses: [TokenUses.Use]) throws(StoreError) {
        for use in uses {
            try connection.run(
                use.isKey ? SQL.keyUse : SQL.tokenUse,
                [.text(use.id.text), SQLValue(use.at), SQLValue(use.network)]
            )
        }
    }
}

extension IssuedToken {
    fileprivate init?(_ row: any SQLRow) {
        let words = row.optionalText(7)?.split(separator: StoredScope.separator).map(String.init)
        let scope = words.map { Identity.Scope(words: $0) } ?? OldScope(storedText: row.text(2))?.scope
        guard let scope, let networks = StoredNetworks.networks(row.optionalText(8)) else { return nil }
        self.init(
            id: TokenID(row.text(0)),
            userID: UserID(row.text(1)),
            scope: scope,
            createdAt: row.moment(3),
            expiresAt: row.moment(4),
            revokedAt: row.optionalMoment(5)
        )
        name = row.optionalText(6) ?? ""
        self.networks = networks
        createdBy = row.optionalText(9).map { UserID($0) }
        changedAt = row.optionalMoment(10)
        rotatedTo = row.optionalText(11).map { TokenID($0) }
        narrowedAt = row.optionalMoment(12)
        lastUsedAt = row.optionalMoment(13)
        lastUsedFrom = row.optionalText(14)
    }
}

/// Networks as they are stored, with commas between them.
enum StoredNetworks {
    /// The text of networks; nil where there are none, and the row may be used from anywhere.
    static func text(_ networks: [AddressNetwork]) -> String? {
        networks.isEmpty ? nil : networks.map(\.description).joined(separator: ",")
    }

    /// The networks of a text; nil for one that has no meaning, whose row lets nobody in.
    static func networks(_ text: String?) -> [AddressNetwork]? {
        guard let text else { return [] }
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        let networks = texts.compactMap { AddressNetwork(String($0)) }
        return networks.count == texts.count ? networks : nil
    }
}

/// Scopes as the column `scope` has them, which the release before reads.
private enum StoredScope {
    static let publishPrefix = "publish:"
    /// What those programs have no word for: a scope that they can read, for they look at all rows
    /// at once, and that no token claims, for no topic has such an id.
    static let row = publishPrefix + "\u{7F}row"
    /// What stands between the words of the column `scopes`; ids of topics may have spaces.
    static let separator = "\n"
}

extension IssuedToken.OldScope {
    fileprivate var storedText: String {
        switch self {
        case .full: "full"
        case .readOnly: "read"
        case .push: "push"
        case .publish(let topic): StoredScope.publishPrefix + topic
        }
    }

    fileprivate init?(storedText: String) {
        switch storedText {
        case "full": self = .full
        case "read": self = .readOnly
        case "push": self = .push
        default:
            guard storedText.hasPrefix(StoredScope.publishPrefix) else { return nil }
            self = .publish(topic: String(storedText.dropFirst(StoredScope.publishPrefix.count)))
        }
    }
}
