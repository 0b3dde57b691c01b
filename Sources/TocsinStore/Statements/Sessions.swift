import TocsinCore

private enum SQL {
    static let columns = """
        id, digest, former_digest, former_until, user_id, username, kind, provider, vouched_by, claims, admin, created_at,
        seen_at, idle_until, expires_at, elevated_until, network, agent, provider_session, secrets, renewed_at, ended_at,
        identity_id
        """
    static let sessions = "SELECT \(columns) FROM sessions"
    static let byDigest = sessions + " WHERE digest = $1"
    static let byFormerDigest = sessions + " WHERE former_digest = $1"
    static let one = sessions + " WHERE id = $1"
    static let ofUser = sessions + " WHERE user_id = $1 ORDER BY created_at DESC, id DESC"
    static func ofUsers(_ users: BoundList) -> String {
        "\(sessions) WHERE user_id IN (\(users.placeholders)) ORDER BY created_at DESC, id DESC"
    }
    static let ended = "SELECT id, user_id FROM sessions WHERE ended_at IS NOT NULL AND expires_at > $1"
    static let good = """
        SELECT count(*) FROM sessions WHERE expires_at > $1 AND idle_until > $1 AND ended_at IS NULL
        """
    static let familiar = """
        SELECT 1 FROM sessions WHERE user_id = $1 AND created_at >= $2 AND network = $3 LIMIT 1
        """
    static let known = "SELECT 1 FROM sessions WHERE network = $1 AND created_at >= $2 LIMIT 1"
    static let insert = """
        INSERT INTO sessions (\(columns))
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
        """
    static let update = """
        UPDATE sessions SET digest = $2, former_digest = $3, former_until = $4, user_id = $5, username = $6, kind = $7,
            provider = $8, vouched_by = $9, claims = $10, admin = $11, created_at = $12, seen_at = $13, idle_until = $14,
            expires_at = $15, elevated_until = $16, network = $17, agent = $18, provider_session = $19, secrets = $20,
            renewed_at = $21, ended_at = $22, identity_id = $23
        WHERE id = $1
        """
    static let noteUse = """
        UPDATE sessions SET seen_at = $2, idle_until = $3 WHERE id = $1 AND ended_at IS NULL AND seen_at < $2
        """
    static let remove = "DELETE FROM sessions WHERE id = $1"
    static let removeOver = """
        DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)
        """
    static let setupCode = "SELECT digest FROM setup_code WHERE name = 'first'"
    static let removeSetupCode = "DELETE FROM setup_code"
    static let saveSetupCode = "INSERT INTO setup_code (name, digest, made_at) VALUES ('first', $1, $2)"
}

extension SQLReading {
    func session(digest: String) throws(StoreError) -> Session? {
        if let session = try connection.first(SQL.byDigest + lock("sessions"), [.text(digest)], Session.init) {
            return session
        }
        return try connection.first(SQL.byFormerDigest + lock("sessions"), [.text(digest)], Session.init)
    }

    func session(_ id: TokenID) throws(StoreError) -> Session? {
        try connection.first(SQL.one + lock("sessions"), [.text(id.text)], Session.init)
    }

    func sessions(of user: UserID) throws(StoreError) -> [Session] {
        try connection.all(SQL.ofUser + lock("sessions"), [.text(user.text)], Session.init)
    }

    func sessions(of users: Set<UserID>) throws(StoreError) -> [Session] {
        var found: [Session] = []
        for chunk in users.map(\.text).sorted().chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            found += try connection.all(SQL.ofUsers(list), list.bindings, Session.init)
        }
        return found
    }

    func endedSessions(at now: Timestamp) throws(StoreError) -> [(id: TokenID, user: UserID)] {
        try connection.all(SQL.ended, [SQLValue(now)]) { (id: TokenID($0.text(0)), user: UserID($0.text(1))) }
    }

    func sessionCount(at now: Timestamp) throws(StoreError) -> Int {
        try connection.first(SQL.good, [SQLValue(now)]) { Int($0.int(0)) } ?? 0
    }

    func hasSignedIn(_ user: UserID, from network: String, since moment: Timestamp) throws(StoreError) -> Bool {
        try connection.first(SQL.familiar, [.text(user.text), SQLValue(moment), .text(network)]) { _ in true } ?? false
    }

    func isKnown(_ network: String, since moment: Timestamp) throws(StoreError) -> Bool {
        try connection.first(SQL.known, [.text(network), SQLValue(moment)]) { _ in true } ?? false
    }

    func setupCodeDigest() throws(StoreError) -> String? {
        try connection.first(SQL.setupCode + lock("setup_code"), []) { $0.text(0) }
    }
}

extension SQLWriter {
    func save(_ session: Session) throws(StoreError) {
        guard try connection.run(SQL.update, session.bindings) == 0 else { return }
        try connection.run(SQL.insert, session.bindings)
    }

    func noteUse(of sessions: [TokenID], at moment: Timestamp, idleUntil: Timestamp) throws(StoreError) {
        for session in sessions {
            try connection.run(SQL.noteUse, [.text(session.text), SQLValue(moment), SQLValue(idleUntil)])
        }
    }

    func remove(_ session: TokenID) throws(StoreError) { try connection.run(SQL.remove, [.text(session.text)]) }

    func removeSessions(before moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        try connection.run(SQL.removeOver, [SQLValue(moment), .int(Int64(limit))])
    }

    func saveSetupCode(digest: String?, at moment: Timestamp) throws(StoreError) {
        try connection.run(SQL.removeSetupCode)
        guard let digest else { return }
        try connection.run(SQL.saveSetupCode, [.text(digest), SQLValue(moment)])
    }
}

extension Session {
    fileprivate init?(_ row: any SQLRow) {
        guard let kind = Kind(rawValue: row.text(6)), let vouch = Identity.Provider(rawValue: row.text(8)) else {
            return nil
        }
        self.init(
            id: TokenID(row.text(0)),
            digest: row.text(1),
            userID: UserID(row.text(4)),
            username: row.text(5),
            kind: kind,
            at: row.moment(11),
            SessionLimits()
        )
        (formerDigest, formerUntil) = (row.optionalText(2), row.optionalMoment(3))
        (provider, vouchedBy) = (row.optionalText(7), vouch)
        (claims, isAdmin) = (UserFacts.claims(of: row.text(9)), row.int(10) != 0)
        (seenAt, idleUntil, expiresAt) = (row.moment(12), row.moment(13), row.moment(14))
        (elevatedUntil, network, agent) = (row.optionalMoment(15), row.optionalText(16), row.optionalText(17))
        (providerSession, secrets) = (row.optionalText(18), row.optionalText(19))
        (renewedAt, endedAt) = (row.optionalMoment(20), row.optionalMoment(21))
        identityID = row.optionalText(22)
    }

    fileprivate var bindings: [SQLValue] {
        let claims = UserFacts(userID: userID, username: username, provider: vouchedBy, claims: claims, seenAt: seenAt)
        return [
            .text(id.text), .text(digest), SQLValue(formerDigest), SQLValue(formerUntil), .text(userID.text),
            .text(username), .text(kind.rawValue), SQLValue(provider), .text(vouchedBy.rawValue),
            .text(claims.claimsText), SQLValue(isAdmin), SQLValue(createdAt), SQLValue(seenAt), SQLValue(idleUntil),
            SQLValue(expiresAt), SQLValue(elevatedUntil), SQLValue(network), SQLValue(agent),
            SQLValue(providerSession), SQLValue(secrets), SQLValue(renewedAt), SQLValue(endedAt),
            SQLValue(identityID),
        ]
    }
}
