import TocsinCore

private enum SQL {
    static let save = """
        INSERT INTO user_facts (user_id, username, provider, claims, seen_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (user_id) DO UPDATE SET username = excluded.username, provider = excluded.provider,
            claims = excluded.claims, seen_at = excluded.seen_at
        """
    static let renew = """
        UPDATE user_facts SET username = $2, provider = $3, claims = $4, seen_at = $5 WHERE user_id = $1 AND seen_at <= $5
        """
    static func accounts(_ users: BoundList) -> String {
        "SELECT id, name, disabled FROM users WHERE id IN (\(users.placeholders))"
    }
    static func groups(_ users: BoundList) -> String {
        """
        SELECT m.user_id, g.name FROM group_members AS m JOIN groups AS g ON g.id = m.group_id
        WHERE m.user_id IN (\(users.placeholders))
        """
    }
    static func facts(_ users: BoundList) -> String {
        "SELECT user_id, username, provider, claims, seen_at FROM user_facts WHERE user_id IN (\(users.placeholders))"
    }
    /// Tokens that are good at the moment and can read.
    static func tokens(_ users: BoundList) -> String {
        """
        SELECT user_id FROM tokens WHERE user_id IN (\(users.placeholders))
            AND revoked_at IS NULL AND expires_at > $\(users.bindings.count + 1) AND (scope IN ('full', 'read') OR reads <> 0)
        UNION SELECT user_id FROM sessions WHERE user_id IN (\(users.placeholders)) AND ended_at IS NULL
            AND expires_at > $\(users.bindings.count + 1) AND idle_until > $\(users.bindings.count + 1)
        """
    }
}

extension SQLReading {
    func standings(
        of users: Set<UserID>,
        tokensAt moment: Timestamp?
    ) throws(StoreError) -> [UserID: PushRights.Standing] {
        var standings: [UserID: PushRights.Standing] = [:]
        for chunk in users.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            var statements = [
                (sql: SQL.accounts(list), bindings: list.bindings), (SQL.facts(list), list.bindings),
                (SQL.groups(list), list.bindings),
            ]
            if let moment { statements.append((SQL.tokens(list), list.bindings + [SQLValue(moment)])) }
            for part in try connection.all(of: statements, StandingPart.init) { part.add(to: &standings) }
        }
        return standings
    }
}

extension SQLWriter {
    func save(_ facts: UserFacts) throws(StoreError) {
        try connection.run(SQL.save, facts.bindings)
    }

    func renew(_ facts: UserFacts) throws(StoreError) -> Bool {
        try connection.run(SQL.renew, facts.bindings) > 0
    }
}

/// One row about a user, of any of the statements.
private enum StandingPart {
    case account(UserID, PushRights.Standing.LocalAccount)
    case facts(UserFacts)
    case group(UserID, String)
    case token(UserID)

    init?(statement: Int, row: any SQLRow) {
        switch statement {
        case 0: self = .account(UserID(row.text(0)), .init(name: row.text(1), isDisabled: row.int(2) != 0))
        case 1:
            guard let provider = Identity.Provider(rawValue: row.text(2)) else { return nil }
            self = .facts(
                UserFacts(
                    userID: UserID(row.text(0)),
                    username: row.text(1),
                    provider: provider,
                    claims: UserFacts.claims(of: row.text(3)),
                    seenAt: row.moment(4)
                )
            )
        case 2: self = .group(UserID(row.text(0)), row.text(1))
        default: self = .token(UserID(row.text(0)))
        }
    }

    func add(to standings: inout [UserID: PushRights.Standing]) {
        switch self {
        case .account(let user, let account): standings[user, default: .init()].account = account
        case .facts(let facts): standings[facts.userID, default: .init()].facts = facts
        // Only users with an account are members, and its row comes first.
        case .group(let user, let group): standings[user]?.account?.groups.append(group)
        case .token(let user): standings[user, default: .init()].hasToken = true
        }
    }
}

extension UserFacts {
    fileprivate var bindings: [SQLValue] {
        [
            .text(userID.text), .text(username), .text(provider.rawValue), .text(claimsText), SQLValue(seenAt),
        ]
    }
}
