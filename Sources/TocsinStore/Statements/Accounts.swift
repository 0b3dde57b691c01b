import TocsinCore

private enum SQL {
    static let accounts = "SELECT \(Account.columns("users")) FROM users"
    static let all = accounts + " ORDER BY name"
    /// A kind that is empty and flags of -1 are not asked for.
    static let page =
        accounts + """
             WHERE name > $1 AND (kind = $2 OR $2 = '') AND (admin = $3 OR $3 = -1) AND (disabled = $4 OR $4 = -1)
            ORDER BY name LIMIT $5
            """
    static let rightsChanged = "SELECT id, rights_changed_at FROM users WHERE rights_changed_at >= $1"
    static let otherAdmin = "SELECT 1 FROM users WHERE admin <> 0 AND disabled = 0 AND id <> $1 LIMIT 1"
    static let noteSeen = """
        UPDATE users SET last_seen_at = $2 WHERE id = $1 AND (last_seen_at IS NULL OR last_seen_at < $2)
        """
    static let disabled = accounts + " WHERE disabled <> 0 ORDER BY id"
    static let named = accounts + " WHERE name = $1"
    static let one = accounts + " WHERE id = $1"
    static let saveAccount = """
        INSERT INTO users (id, name, password_hash, disabled, created_at, kind, admin, managed_by, group_maker)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, password_hash = excluded.password_hash,
            disabled = excluded.disabled, created_at = excluded.created_at, kind = excluded.kind,
            admin = excluded.admin, managed_by = excluded.managed_by, group_maker = excluded.group_maker
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

    func accounts(
        matching filter: AccountFilter,
        after name: String,
        limit: Int
    ) throws(StoreError) -> [Account] {
        let flags = [filter.isAdmin, filter.isDisabled].map { SQLValue.int($0.map { $0 ? 1 : 0 } ?? -1) }
        return try connection.all(
            SQL.page,
            [.text(name), .text(filter.kind?.rawValue ?? "")] + flags + [.int(Int64(limit))],
            Account.init
        )
    }

    func rightsChanged(since moment: Timestamp) throws(StoreError) -> [UserID: Timestamp] {
        let rows = try connection.all(SQL.rightsChanged, [SQLValue(moment)]) { (UserID($0.text(0)), $0.moment(1)) }
        return Dictionary(rows) { $1 }
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
                SQLValue(account.isDisabled), SQLValue(account.createdAt), .text(account.kind.rawValue),
                SQLValue(account.isAdmin), SQLValue(account.manager?.text), SQLValue(account.isGroupMaker),
            ]
        )
    }

    func isLastAdmin(_ id: UserID) throws(StoreError) -> Bool {
        try lock(name: "admins")
        return try connection.first(SQL.otherAdmin, [.text(id.text)]) { _ in true } == nil
    }

    func noteSeen(_ user: UserID, at moment: Timestamp) throws(StoreError) {
        try connection.run(SQL.noteSeen, [.text(user.text), SQLValue(moment)])
    }
}

extension Account {
    /// The columns that an account is read from, of the table with this name or alias.
    static func columns(_ table: String) -> String {
        [
            "id", "name", "password_hash", "disabled", "created_at", "kind", "admin", "managed_by", "last_seen_at",
            "rights_changed_at", "group_maker",
        ]
        .map { table + "." + $0 }.joined(separator: ", ")
    }

    /// Reads `columns`; nil for a kind of account that this program does not know.
    init?(_ row: any SQLRow) {
        guard let kind = Kind(rawValue: row.text(5)) else { return nil }
        self.init(
            id: UserID(row.text(0)),
            name: row.text(1),
            passwordHash: row.optionalText(2),
            isDisabled: row.int(3) != 0,
            createdAt: row.moment(4)
        )
        self.kind = kind
        isAdmin = row.int(6) != 0
        manager = row.optionalText(7).flatMap(Manager.init(text:))
        lastSeenAt = row.optionalMoment(8)
        rightsChangedAt = row.optionalMoment(9)
        isGroupMaker = row.int(10) != 0
    }
}
