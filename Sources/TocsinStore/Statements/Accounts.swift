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
