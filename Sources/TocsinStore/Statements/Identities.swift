import TocsinCore

private enum SQL {
    static let columns = "id, issuer, subject, user_id, provider, name, created_at"
    static let identities = "SELECT \(columns) FROM identities"
    static let ofSubject = identities + " WHERE issuer = $1 AND subject = $2"
    static let one = identities + " WHERE id = $1"
    static let ofUser = identities + " WHERE user_id = $1 ORDER BY created_at, id"
    static let linked = identities + " WHERE user_id IS NOT NULL ORDER BY user_id, created_at, id"
    static let facts = "SELECT 1 FROM user_facts WHERE user_id = $1"
    /// Owners are stored as `sub::username`; a semicolon comes right behind a colon.
    static let topic = "SELECT 1 FROM topics WHERE owner >= $1 AND owner < $2 LIMIT 1"
    static let save = """
        INSERT INTO identities (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (id) DO UPDATE SET issuer = excluded.issuer, subject = excluded.subject, user_id = excluded.user_id,
            provider = excluded.provider, name = excluded.name, created_at = excluded.created_at
        """
    static let remove = "DELETE FROM identities WHERE id = $1"
}

extension SQLReading {
    func identity(issuer: String, subject: String) throws(StoreError) -> SignInIdentity? {
        try connection.first(
            SQL.ofSubject + lock("identities"),
            [.text(issuer), .text(subject)],
            SignInIdentity.init
        )
    }

    func identity(_ id: String) throws(StoreError) -> SignInIdentity? {
        try connection.first(SQL.one + lock("identities"), [.text(id)], SignInIdentity.init)
    }

    func linkedIdentities(of user: UserID?) throws(StoreError) -> [SignInIdentity] {
        guard let user else { return try connection.all(SQL.linked, [], SignInIdentity.init) }
        return try connection.all(SQL.ofUser + lock("identities"), [.text(user.text)], SignInIdentity.init)
    }

    func hasThings(_ user: UserID) throws(StoreError) -> Bool {
        if try connection.first(SQL.facts, [.text(user.text)], { _ in true }) ?? false { return true }
        let range: [SQLValue] = [.text(user.text + "::"), .text(user.text + ":;")]
        return try connection.first(SQL.topic, range) { _ in true } ?? false
    }
}

extension SQLWriter {
    func holdIdentity(issuer: String, subject: String) throws(StoreError) {
        try lock(name: "identity \(issuer) \(subject)")
    }

    func save(_ identity: SignInIdentity) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(identity.id), .text(identity.issuer), .text(identity.subject), SQLValue(identity.userID?.text),
                .text(identity.provider), .text(identity.name), SQLValue(identity.createdAt),
            ]
        )
    }

    func remove(_ identity: SignInIdentity) throws(StoreError) {
        try connection.run(SQL.remove, [.text(identity.id)])
    }
}

extension SignInIdentity {
    fileprivate init(_ row: any SQLRow) {
        self.init(
            id: row.text(0),
            issuer: row.text(1),
            subject: row.text(2),
            userID: row.optionalText(3).map { UserID($0) },
            provider: row.text(4),
            name: row.text(5),
            createdAt: row.moment(6)
        )
    }
}
