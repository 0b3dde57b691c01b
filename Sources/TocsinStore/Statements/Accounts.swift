import TocsinCore

private enum SQL {
    static let accounts = "SELECT id, name, password_hash, disabled, created_at FROM users"
    static let all = accounts + " ORDER BY name"
    static let disabled = accounts + " WHERE disabled <> 0 ORDER BY id"
    static let named = accounts + " WHERE name = $1"
    static let one = accounts + " WHERE id = $1"
    static let saveAccount = """
        INSERT INTO users (id, name, password_hash, disabled, created_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, password_hash = excluded.password_hash,
            disabled = excluded.disabled, created_at = excluded.created_at
        """
    static let tokens = "SELECT id, user_id, scope, created_at, expires_at, revoked_at FROM tokens"
    static let token = tokens + " WHERE id = $1"
    static let tokensOfUser = tokens + " WHERE user_id = $1 ORDER BY id"
    static let allTokens = tokens + " ORDER BY id"
    static let revokedTokens = tokens + " WHERE revoked_at IS NOT NULL ORDER BY id"
    static let saveToken = """
        INSERT INTO tokens (id, user_id, scope, created_at, expires_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, scope = excluded.scope,
            created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at
        """
}

extension SQLReading {
    func account(named name: String) throws(StoreError) -> Account? {
        try connection.first(SQL.named + lock("users"), [.text(name)], Account.init)
    }

    func account(_ id: UserID) throws(StoreError) -> Account? {
        try connection.first(SQL.one + lock("users"), [.text(id.text)], Account.init)
    }

    func accounts() throws(StoreError) -> [Account] {
        try connection.all(SQL.all, [], Account.init)
    }

    func disabledAccounts() throws(StoreError) -> [Account] {
        try connection.all(SQL.disabled, [], Account.init)
    }

    func token(_ id: TokenID) throws(StoreError) -> IssuedToken? {
        try connection.first(SQL.token + lock("tokens"), [.text(id.text)], IssuedToken.init)
    }

    func tokens(of user: UserID?) throws(StoreError) -> [IssuedToken] {
        guard let user else { return try connection.all(SQL.allTokens, [], IssuedToken.init) }
        return try connection.all(SQL.tokensOfUser, [.text(user.text)], IssuedToken.init)
    }

    func revokedTokens() throws(StoreError) -> [IssuedToken] {
        try connection.all(SQL.revokedTokens, [], IssuedToken.init)
    }
}

extension SQLWriter {
    func save(_ account: Account) throws(StoreError) {
        try connection.run(
            SQL.saveAccount,
            [
                .text(account.id.text), .text(account.name), SQLValue(account.passwordHash),
                SQLValue(account.isDisabled), SQLValue(account.createdAt),
            ]
        )
    }

    func save(_ token: IssuedToken) throws(StoreError) {
        try connection.run(
            SQL.saveToken,
            [
                .text(token.id.text), .text(token.userID.text), .text(token.scope.storedText),
                SQLValue(token.createdAt), SQLValue(token.expiresAt), SQLValue(token.revokedAt),
            ]
        )
    }
}

extension Account {
    fileprivate init(_ row: any SQLRow) {
        self.init(
            id: UserID(row.text(0)),
            name: row.text(1),
            passwordHash: row.optionalText(2),
            isDisabled: row.int(3) != 0,
            createdAt: row.moment(4)
        )
    }
}

extension IssuedToken {
    fileprivate init?(_ row: any SQLRow) {
        guard let scope = Identity.Scope(storedText: row.text(2)) else { return nil }
        self.init(
            id: TokenID(row.text(0)),
            userID: UserID(row.text(1)),
            scope: scope,
            createdAt: row.moment(3),
            expiresAt: row.moment(4),
            revokedAt: row.optionalMoment(5)
        )
    }
}

extension Identity.Scope {
    private static let publishPrefix = "publish:"

    fileprivate var storedText: String {
        switch self {
        case .full: "full"
        case .readOnly: "read"
        case .push: "push"
        case .publish(let topic): Self.publishPrefix + topic
        }
    }

    fileprivate init?(storedText: String) {
        switch storedText {
        case "full": self = .full
        case "read": self = .readOnly
        case "push": self = .push
        default:
            guard storedText.hasPrefix(Self.publishPrefix) else { return nil }
            self = .publish(topic: String(storedText.dropFirst(Self.publishPrefix.count)))
        }
    }
}
