import Testing
import TocsinCore
import TocsinStore

@Suite("Sessions in the store")
struct SessionStoreTests {
    private static func session(_ id: String, at now: Timestamp = moment(1000)) -> Session {
        Session(
            id: TokenID(id),
            digest: "digest-" + id,
            userID: UserID("id-ada"),
            username: "ada",
            kind: .app,
            at: now,
            SessionLimits(idleSeconds: 100, lifetimeSeconds: 1000)
        )
    }

    private static func full(_ id: String) -> Session {
        var session = session(id)
        (session.formerDigest, session.formerUntil) = ("former-" + id, moment(2))
        (session.provider, session.vouchedBy, session.isAdmin) = ("google", .oidc, true)
        session.claims = ["cognito:groups": ["ops", "a\tb\nc"], "email": ["ada@example.com"]]
        (session.elevatedUntil, session.network, session.agent) = (moment(3), "192.0.2.0/24", "curl/8 \u{1F600}")
        (session.providerSession, session.secrets, session.identityID) = ("sid", "sealed", "i-1")
        (session.renewedAt, session.endedAt) = (moment(4), moment(5))
        return session
    }

    @Test("a session comes back as saved, by its secret and by the one before", arguments: TestDatabase.available)
    func roundTrip(database: TestDatabase) async throws {
        try await database.withStore { store in
            let (plain, full) = (Self.session("a"), Self.full("b"))
            try await store.write { writer throws(StoreError) in
                for session in [plain, full, full] { try writer.save(session) }
            }
            try await store.read { reader throws(StoreError) in
                #expect(try reader.session(digest: "digest-a") == plain)
                #expect(try reader.session(digest: "digest-b") == full)
                #expect(try reader.session(digest: "former-b") == full)
                #expect(try reader.session(digest: "former-a") == nil)
                #expect(try reader.session(TokenID("b")) == full)
                #expect(try reader.sessions(of: UserID("id-ada")).count == 2)
                #expect(try reader.endedSessions(at: moment(1)).map(\.id) == [TokenID("b")])
                let ada = UserID("id-ada")
                #expect(try reader.hasSignedIn(ada, from: "192.0.2.0/24", since: moment(1000)))
                #expect(try !reader.hasSignedIn(ada, from: "192.0.2.0/24", since: moment(1001)))
                #expect(try !reader.hasSignedIn(ada, from: "198.51.100.0/24", since: moment(0)))
                #expect(try reader.isKnown("192.0.2.0/24", since: moment(1000)))
                #expect(try !reader.isKnown("192.0.2.0/24", since: moment(1001)))
                #expect(try !reader.isKnown("198.51.100.0/24", since: moment(0)))
            }
        }
    }

    @Test("use moves the end of a session that is good, and never back", arguments: TestDatabase.available)
    func use(database: TestDatabase) async throws {
        try await database.withStore { store in
            var ended = Self.session("b")
            ended.endedAt = moment(1001)
            let sessions = [Self.session("a"), ended]
            try await store.write { writer throws(StoreError) in
                for session in sessions { try writer.save(session) }
                let ids = sessions.map(\.id)
                try writer.noteUse(of: ids, at: moment(2000), idleUntil: moment(9000))
                try writer.noteUse(of: ids, at: moment(1500), idleUntil: moment(3000))
            }
            try await store.read { reader throws(StoreError) in
                #expect(try reader.session(TokenID("a"))?.idleUntil == moment(9000))
                #expect(try reader.session(TokenID("b")) == sessions[1])
            }
            let removed = try await store.write { writer throws(StoreError) in
                try writer.removeSessions(before: Self.session("a").expiresAt.adding(seconds: 1), limit: 1)
            }
            #expect(removed == 1)
        }
    }

    @Test("there is one set-up code at most", arguments: TestDatabase.available)
    func setupCode(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.write { writer throws(StoreError) in
                #expect(try writer.setupCodeDigest() == nil)
                try writer.saveSetupCode(digest: "one", at: moment(1))
                try writer.saveSetupCode(digest: "two", at: moment(2))
                #expect(try writer.setupCodeDigest() == "two")
                try writer.saveSetupCode(digest: nil, at: moment(3))
                #expect(try writer.setupCodeDigest() == nil)
            }
        }
    }
}
