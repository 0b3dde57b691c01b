import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Signing in, in process")
struct SignInServiceTests {
    private static let password = "correct horse battery"
    private let api: APIHarness
    private let desk: SignInDesk

    init() async throws {
        api = try await APIHarness(passwords: PlainPasswords(), signsIn: true)
        desk = try #require(api.signInDesk)
        for name in ["ann", "gone"] {
            _ = try await api.services.people.add(name: name, password: Self.password, by: .shell)
        }
        _ = try await api.services.people.set(UserReference("gone"), isDisabled: true, by: .shell)
    }

    private func signIn(
        _ name: String = "ann",
        _ password: String = SignInServiceTests.password,
        from address: String? = "192.0.2.1",
        kind: Session.Kind = .browser
    ) async throws -> NewSession {
        try await RequestOrigin.$current.withValue(RequestOrigin(address: address)) {
            try await desk.service.signIn(username: name, password: password, kind: kind)
        }
    }

    private func refusal(
        _ name: String = "ann",
        _ password: String,
        from address: String = "192.0.2.1"
    ) async -> ServiceError? {
        do {
            _ = try await signIn(name, password, from: address)
            return nil
        } catch {
            return error as? ServiceError
        }
    }

    private func row(_ session: Session) async throws -> Session {
        let found = try await api.store.read { reader throws(StoreError) in try reader.session(session.id) }
        return try #require(found)
    }

    @Test("an absent name, a wrong password and a disabled user are answered alike; the log tells them apart")
    func alike() async throws {
        let refusals = [
            await refusal("nobody", Self.password), await refusal("ann", "wrong"), await refusal("gone", Self.password),
            await refusal("gone", "wrong"), await refusal(String(repeating: "n", count: 300), "x"),
        ]
        #expect(Set(refusals.map { "\(String(describing: $0))" }).count == 1)
        #expect(
            desk.takeReasons() == ["unknown_user", "wrong_password", "user_disabled", "wrong_password", "unknown_user"]
        )
        let new = try await signIn()
        #expect(try await row(new.session).digest == "digest of " + new.secret)
        #expect(try await row(new.session).network == "192.0.2.0/24")
    }

    @Test("what no page of ours has sent hides no refused sign-in, however much of it a stranger sends")
    func pagesApart() async throws {
        let page = SignInRefusal(reason: SignInRefusal.ofPage, origin: nil)
        for _ in 0..<200 { desk.service.refusals.note(page) }
        _ = await refusal("ann", "wrong")
        let pages = Array(repeating: "page_refused", count: RefusedSignIns.pageRowsPerMinute)
        #expect(desk.takeReasons() == pages + ["wrong_password"])
    }

    @Test("a network that fails thirty times pauses; others go on, and so does one that the user knows")
    func brakes() async throws {
        _ = try await signIn(from: "198.51.100.9")
        for _ in 0..<30 { #expect(await refusal("ann", "wrong", from: "203.0.113.5") != nil) }
        guard case .tooManyTries(_, let seconds)? = await refusal("ann", Self.password, from: "203.0.113.5") else {
            Issue.record("let in")
            return
        }
        #expect((2...60).contains(seconds))
        #expect(desk.takeReasons().last == "too_many_tries")
        _ = try await signIn(from: "192.0.2.200")
        for _ in 0..<40 { _ = await refusal("ann", "wrong", from: "198.51.100.9") }
        _ = try await signIn(from: "198.51.100.9")
        api.time.advance(seconds: 61)
        _ = try await signIn(from: "203.0.113.5")
    }

    @Test("what the brakes refuse asks the store nothing: it is answered while the store is away")
    func brakedCostsNothing() async throws {
        for network in ["203.0.113.5", "198.51.100.7", "192.0.2.9"] {
            for _ in 0..<31 { #expect(await refusal("ann", "wrong", from: network) != nil) }
        }
        await api.store.close()
        for name in ["ann", "nobody"] {
            guard case .tooManyTries? = await refusal(name, "wrong", from: "192.0.2.9") else {
                Issue.record("the store was asked")
                return
            }
        }
    }

    @Test("a further session than twenty ends the oldest, and what rests on it")
    func twenty() async throws {
        var sessions: [Session] = []
        for _ in 0..<21 { sessions.append(try await signIn().session) }
        #expect(try await row(sessions[0]).endedAt != nil)
        for session in sessions.dropFirst() { #expect(try await row(session).endedAt == nil) }
    }

    @Test("nobody for whom a provider vouches comes in as a local user")
    func taken() async throws {
        let ann = try await api.store.read { reader throws(StoreError) in try reader.account(named: "ann") }
        func person(_ user: UserID) -> VouchedPerson {
            VouchedPerson(provider: "p", issuer: "https://p", subject: user.text, userID: user, username: "p:ann")
        }
        guard case .refused = try await desk.service.signIn(person(try #require(ann).id)) else {
            Issue.record("came in")
            return
        }
        #expect(desk.takeReasons() == ["account_taken"])
        guard case .begun(let other) = try await desk.service.signIn(person(UserID("oidc:p:7"))) else {
            Issue.record("refused")
            return
        }
        #expect(other.session.provider == "p")
    }

    @Test("a new password ends all sessions but the one that asks")
    func newPassword() async throws {
        let (own, other) = (try await signIn().session, try await signIn().session)
        let change = "mutation { setPassword(old: \"\(Self.password)\", new: \"another long one\") { name } }"
        #expect(try await api.run(change, as: Identity(own))["errors"] == nil)
        #expect(try await row(own).endedAt == nil)
        #expect(try await row(other).endedAt != nil)
        #expect(await refusal("ann", Self.password) != nil)
        _ = try await signIn("ann", "another long one")
    }

    @Test("a wrong old password has a line of the log and a row of the audit, as who asked with their token")
    func wrongOldPassword() async throws {
        let ann = try #require(
            try await api.store.read { reader throws(StoreError) in try reader.account(named: "ann") }
        )
        let me = Identity(userID: ann.id, username: "ann")
        func change(from address: String) async throws -> JSONValue {
            try await RequestOrigin.$current.withValue(RequestOrigin(address: address)) {
                let change = "mutation { setPassword(old: \"wrong\", new: \"another long one\") { name } }"
                return try await api.run(change, as: me)
            }
        }
        let writing = Task { await desk.service.refusals.run() }
        defer { writing.cancel() }
        #expect(try await change(from: "192.0.2.7")["errors"] != nil)
        #expect(desk.takeReasons() == ["wrong_password"])
        let fields = "actor outcome detail network"
        let query = "{ auditEvents(filter: { action: \"user.password\" }, limit: 9) { items { \(fields) } } }"
        var rows: [JSONValue] = []
        let end = ContinuousClock.now + .seconds(60)
        while rows.isEmpty, .now < end {
            // It is written beside the request.
            await Task.yield()
            rows = try await api.run(query, as: me)["data"]?["auditEvents"]?["items"]?.arrayValue ?? []
        }
        let expected: JSONValue = [
            "actor": .string(ann.id.text), "outcome": "REFUSED", "detail": #"{"reason":"wrong_password"}"#,
            "network": "192.0.2.0/24",
        ]
        #expect(rows == [expected], "\(rows)")
        for _ in 0..<29 { _ = try await change(from: "192.0.2.7") }
        #expect(desk.takeReasons().last == "wrong_password")
        _ = try await change(from: "192.0.2.7")
        #expect(desk.takeReasons() == ["too_many_tries"])
    }

    /// What a session does after a proof alone; `TOPIC` is one of Ann's, `ANN` her id.
    private static let guarded = [
        "createToken(input: { name: \"t\", scopes: [\"full\"] }) { token { id } }",
        "createToken(input: { name: \"t\", scopes: [\"read\"], user: \"robot\" }) { token { id } }",
        "grantTopic(input: { topicId: \"TOPIC\", everybody: true, roles: [OWNER] }) { id }",
        "createServiceAccount(name: \"another\", managedBy: \"ann\") { id }",
        "createUser(name: \"new\", admin: true) { id }", "setAdmin(id: \"ANN\", admin: true) { id }",
        // By another's password, or in a group that looks after programs, all of these were had.
        "resetPassword(id: \"ANN\") { password }", "addGroupMember(groupId: \"GROUP\", user: \"ann\") { id }",
        "setGroupMaker(id: \"ANN\", groupMaker: true) { id }",
    ]

    /// What it does without.
    private static let free = [
        "createToken(input: { name: \"t\", scopes: [\"read\"] }) { token { id } }",
        "grantTopic(input: { topicId: \"TOPIC\", everybody: true, roles: [READER] }) { id }",
        "createUser(name: \"new\") { id }",
    ]

    @Test("what is hard to take back needs a proof of the last fifteen minutes, and a token needs none")
    func elevation() async throws {
        _ = try await api.services.people.addService(name: "robot", managedBy: "ann", by: .shell)
        let session = try await signIn().session
        let caller = Identity(session).with(groups: [], isAdmin: true, asOf: nil)
        let topic = try await api.makeTopic("anns", as: caller)
        func code(_ field: String, as caller: Identity) async throws -> String? {
            let field = field.replacing("TOPIC", with: topic).replacing("ANN", with: session.userID.text)
            return try await api.run("mutation { \(field) }", as: caller).code
        }
        for field in Self.guarded { #expect(try await code(field, as: caller) == "REAUTHENTICATE", "\(field)") }
        for field in Self.free { #expect(try await code(field, as: caller) == nil, "\(field)") }
        await #expect(throws: ServiceError.self) { try await desk.service.elevate(caller, password: "wrong") }
        #expect(try await code(Self.guarded[0], as: caller) == "REAUTHENTICATE")
        _ = try await desk.service.elevate(caller, password: Self.password)
        for field in Self.guarded.dropLast(5) { #expect(try await code(field, as: caller) == nil, "\(field)") }
        api.time.advance(seconds: 901)
        #expect(try await code(Self.guarded[0], as: caller) == "REAUTHENTICATE")
        let token = Identity(userID: session.userID, username: "ann")
        #expect(try await code(Self.guarded[0], as: token) == nil)
    }

    @Test("sessions are listed for their user and for admins, who end them; for others they are not there")
    func listed() async throws {
        let (own, other) = (try await signIn().session, try await signIn(kind: .app).session)
        let list = "{ user(name: \"ann\") { sessions { id kind isCurrent } } }"
        let seen = try await api.run(list, as: Identity(own))["data"]?["user"]?["sessions"]?.arrayValue ?? []
        #expect(seen.contains(["id": .string(own.id.text), "kind": "BROWSER", "isCurrent": true]), "\(seen)")
        #expect(seen.contains(["id": .string(other.id.text), "kind": "APP", "isCurrent": false]), "\(seen)")
        let root = APIHarness.identity("root").with(groups: [], isAdmin: true, asOf: nil)
        let all = try await api.run("{ users { items { name sessions { id } } } }", as: root)
        let counts = all["data"]?["users"]?["items"]?.arrayValue?.compactMap { $0["sessions"]?.arrayValue?.count }
        #expect(counts == [2, 0], "\(all)")
        let end = "mutation { endSession(id: \"\(other.id)\") { id } }"
        let stranger = try await api.run(end, as: APIHarness.identity("bob"))
        let absent = try await api.run(end.replacing(other.id.text, with: "nothing"), as: APIHarness.identity("bob"))
        #expect(stranger == absent && stranger.code == "UNAUTHORIZED", "\(stranger)")
        #expect(try await api.run(end, as: root)["errors"] == nil)
        #expect(try await row(other).endedAt != nil)
    }
}
