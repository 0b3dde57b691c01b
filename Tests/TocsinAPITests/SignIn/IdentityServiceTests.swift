import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Identities of sign-in providers, in process")
struct IdentityServiceTests {
    private let api: APIHarness
    private let desk: SignInDesk

    init() async throws {
        api = try await APIHarness(passwords: PlainPasswords(), signsIn: true)
        desk = try #require(api.signInDesk)
        for name in ["ann", "bob"] {
            _ = try await api.services.people.add(name: name, password: Self.password, by: .shell)
        }
    }

    private static let password = "correct horse battery"

    private func person(_ subject: String, mustBeKnown: Bool = false) -> VouchedPerson {
        var person = VouchedPerson(
            provider: "p",
            issuer: "https://p.example",
            subject: subject,
            userID: UserID("oidc:p:" + subject),
            username: "p:" + subject
        )
        person.mustBeKnown = mustBeKnown
        return person
    }

    /// A session of a local user, who has proved just now who they are.
    private func session(of name: String, isElevated: Bool = true) async throws -> Session {
        let session = try await desk.service.signIn(username: name, password: Self.password, kind: .browser).session
        guard isElevated else { return session }
        return try await desk.service.elevate(Identity(session), password: Self.password)
    }

    private func begun(_ person: VouchedPerson) async throws -> Session? {
        guard case .begun(let new) = try await desk.service.signIn(person) else { return nil }
        return new.session
    }

    private func linked(_ subject: String, by session: Session) async -> ServiceError? {
        do throws(ServiceError) {
            _ = try await api.services.identities.link(person(subject), by: session.id)
            return nil
        } catch {
            return error
        }
    }

    private func audited(_ action: String) async throws -> [StoredAuditEvent] {
        try await api.store.read { reader throws(StoreError) in
            var query = AuditQuery(limit: 100)
            query.action = action
            return try reader.auditEvents(query)
        }
    }

    private func row(_ session: Session) async throws -> Session? {
        try await api.store.read { reader throws(StoreError) in try reader.session(session.id) }
    }

    @Test("who links an identity signs in by it as themselves, until it is unlinked")
    func walk() async throws {
        let ann = try await session(of: "ann")
        #expect(await linked("1", by: ann) == nil)
        #expect(await linked("1", by: ann) == nil, "a second time changes nothing")
        let signedIn = try #require(try await begun(person("1")))
        #expect(signedIn.userID == ann.userID && signedIn.username == "ann" && signedIn.provider == "p")
        let list = "{ identities { id provider issuer subject name } }"
        let seen = try await api.run(list, as: Identity(ann))["data"]?["identities"]?.arrayValue
        let identity = try #require(seen?.first, "\(String(describing: seen))")
        #expect(identity["subject"] == "1" && identity["provider"] == "p" && seen?.count == 1)
        let bob = try await session(of: "bob")
        #expect(try await api.run(list, as: Identity(bob))["data"] == ["identities": []])

        let id = identity["id"]?.stringValue ?? ""
        let unlink = "mutation { unlinkIdentity(id: \"\(id)\") { subject } }"
        let foreign = try await api.run(unlink, as: Identity(bob))
        let absent = try await api.run(unlink.replacing(id, with: "none"), as: Identity(bob))
        #expect(foreign == absent && foreign["errors"] != nil)
        let plain = try await session(of: "ann", isElevated: false)
        #expect("\(try await api.run(unlink, as: Identity(plain)))".contains("REAUTHENTICATE"))
        #expect(try await api.run(unlink, as: Identity(ann))["errors"] == nil)
        #expect(try await row(signedIn)?.endedAt != nil)
        #expect(try await row(ann)?.endedAt == nil)
        #expect(try await begun(person("1"))?.userID == UserID("oidc:p:1"))
        #expect(try await audited("identity.link").count == 1)
        #expect(try await audited("identity.unlink").count == 1)
    }

    @Test("an identity that is another user's is not linked, and nothing says whose it is")
    func taken() async throws {
        let (ann, bob) = (try await session(of: "ann"), try await session(of: "bob"))
        #expect(await linked("1", by: ann) == nil)
        guard case .conflicting(let text)? = await linked("1", by: bob) else {
            Issue.record("was linked")
            return
        }
        #expect(!text.contains("ann"))
        #expect(try await begun(person("1"))?.userID == ann.userID)
    }

    @Test("who came as a user of their own is linked while they have nothing here, and their sessions end")
    func cameBefore() async throws {
        let ann = try await session(of: "ann")
        let own = try #require(try await begun(person("1")))
        #expect(await linked("1", by: ann) == nil)
        #expect(try await row(own)?.endedAt != nil)
        let other = try #require(try await begun(person("2")))
        let create = "mutation { createTopic(input: {name: \"t\"}) { id } }"
        #expect(try await api.run(create, as: Identity(other))["errors"] == nil)
        guard case .conflicting? = await linked("2", by: ann) else {
            Issue.record("was linked")
            return
        }
        #expect(try await row(other)?.endedAt == nil)
    }

    @Test("a user links five")
    func five() async throws {
        let ann = try await session(of: "ann")
        for number in 1...5 { #expect(await linked("\(number)", by: ann) == nil) }
        guard case .limit? = await linked("6", by: ann) else {
            Issue.record("was linked")
            return
        }
    }

    @Test("a disabled user does not come in by a linked identity, and links none")
    func disabled() async throws {
        let ann = try await session(of: "ann")
        #expect(await linked("1", by: ann) == nil)
        _ = try await api.services.people.set(UserReference("ann"), isDisabled: true, by: .shell)
        #expect(try await begun(person("1")) == nil)
        #expect(desk.takeReasons() == ["user_disabled"])
        #expect(await linked("2", by: ann) != nil)
    }

    @Test("of a provider that takes invited people alone, who was here or is linked comes in, and nobody else")
    func invited() async throws {
        #expect(try await begun(person("1")) != nil)
        #expect(try await begun(person("1", mustBeKnown: true)) != nil)
        #expect(try await begun(person("2", mustBeKnown: true)) == nil)
        #expect(desk.takeReasons() == ["not_invited"])
        _ = try await api.services.identities.link(person("2"), to: UserReference("bob"))
        #expect(try await begun(person("2", mustBeKnown: true))?.username == "bob")
    }

    @Test("nobody unlinks the identity by which alone they sign in")
    func last() async throws {
        _ = try await api.services.people.add(name: "eve", by: .shell)
        let identity = try await api.services.identities.link(person("9"), to: UserReference("eve"))
        var proved = person("9")
        proved.isElevated = true
        let eve = try #require(try await begun(proved))
        await #expect(throws: ServiceError.self) {
            try await api.services.identities.unlink(identity.id, by: Identity(eve))
        }
        #expect(try await begun(person("9"))?.username == "eve")
    }

    @Test("who has no password sets a first one by a session only while it is proved who they are")
    func firstPassword() async throws {
        _ = try await api.services.people.add(name: "eve", by: .shell)
        _ = try await api.services.identities.link(person("9"), to: UserReference("eve"))
        let change = "mutation { setPassword(new: \"\(Self.password)\") { name } }"
        let plain = try #require(try await begun(person("9")))
        #expect("\(try await api.run(change, as: Identity(plain)))".contains("REAUTHENTICATE"))
        var proved = person("9")
        proved.isElevated = true
        let eve = try #require(try await begun(proved))
        #expect(try await api.run(change, as: Identity(eve))["errors"] == nil)
        #expect(try await session(of: "eve").username == "eve")
    }
}
