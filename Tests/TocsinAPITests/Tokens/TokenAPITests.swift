import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("Tokens over GraphQL")
struct TokenAPITests {
    private let api: APIHarness
    private let ann: Identity

    private static let fields =
        "id name user scopes cidrs createdAt createdBy expiresAt lastUsedAt lastUsedFrom revokedAt rotatedTo"

    init() async throws {
        var limits = ServiceLimits()
        limits.tokensPerUser = 5
        api = try await APIHarness(clientIDs: .uuid, limits: limits)
        let account = try await AccountService(environment: api.environment).add(name: "ann", passwordHash: nil)
        ann = Identity(userID: account.id, username: "ann")
    }

    private func caller(_ words: String...) throws -> Identity {
        var caller = ann
        caller.scope = try #require(Identity.Scope(words: words))
        return caller
    }

    /// The field's value, or the error's code and words.
    private func run(_ document: String, as caller: Identity? = nil) async throws -> JSONValue {
        let answer = try await api.run(document, as: caller ?? ann)
        let error = answer["errors"]?[0]
        if let error {
            return ["code": error["extensions"]?["code"] ?? .null, "message": error["message"] ?? .null]
        }
        return (answer["data"]?.objectValue).flatMap { $0.first { _ in true } }?.value ?? .null
    }

    private func create(_ input: String, as caller: Identity? = nil) async throws -> JSONValue {
        try await run("mutation { createToken(input: { \(input) }) { text token { \(Self.fields) } } }", as: caller)
    }

    private func made(_ input: String = "name: \"t\", scopes: [\"full\"]") async throws -> String {
        let made = try await create(input)
        return try #require(made["token"]?["id"]?.stringValue, "\(made)")
    }

    private func row(_ id: String) async throws -> IssuedToken {
        let row = try await api.store.read { reader throws(StoreError) in try reader.token(TokenID(id)) }
        return try #require(row)
    }

    @Test("a token for some networks makes none for others, and rotates none")
    func networksOfMakers() async throws {
        var bound = ann
        bound.networks = try TokenService.networks(of: ["10.0.0.0/8"])
        let inherited = try await create("name: \"t\", scopes: [\"full\"]", as: bound)
        #expect(inherited["token"]?["cidrs"] == ["10.0.0.0/8"], "\(inherited)")
        let inside = try await create("name: \"t\", scopes: [\"full\"], cidrs: [\"10.1.0.0/16\"]", as: bound)
        #expect(inside["token"]?["cidrs"] == ["10.1.0.0/16"], "\(inside)")
        let outside = try await create("name: \"t\", scopes: [\"full\"], cidrs: [\"11.0.0.0/8\"]", as: bound)
        #expect(outside["code"] == "BAD_USER_INPUT", "\(outside)")
        let free = try await made()
        let rotated = try await run("mutation { rotateToken(id: \"\(free)\") { text } }", as: bound)
        #expect(rotated["code"] == "BAD_USER_INPUT", "\(rotated)")
    }

    @Test("a new token answers its row and, once, its text; lists have the row alone")
    func create() async throws {
        let topic = try await api.makeTopic("alerts", as: ann)
        let made = try await create(
            "name: \"ci\", scopes: [\"publish:\(topic)\", \"read\"], cidrs: [\"10.0.0.1/8\", \"fd00::/8\"]"
        )
        let row = try #require(made["token"], "\(made)")
        #expect(row["name"] == "ci" && row["user"] == .string(ann.userID.text) && row["createdBy"] == row["user"])
        #expect(row["scopes"] == ["read", .string("publish:" + topic)] && row["cidrs"] == ["10.0.0.0/8", "fd00::/8"])
        #expect(row["lastUsedAt"] == .null && row["revokedAt"] == .null && row["rotatedTo"] == .null)
        let stored = try await self.row(row["id"]?.stringValue ?? "")
        #expect(stored.expiresAt == stored.createdAt.adding(seconds: 30 * 86_400), "30 days unless said otherwise")
        let text = try #require(made["text"]?.stringValue)
        #expect(text.split(separator: ".").count == 3)
        let listed = try await run("{ tokens { items { \(Self.fields) } nextToken } }")
        #expect(listed["items"] == [row] && listed["nextToken"] == .null)
    }

    @Test(
        "what no token can be is refused with a word on what it can be",
        arguments: [
            ("name: \"\", scopes: [\"full\"]", "1 to 64"),
            ("name: \"\(String(repeating: "n", count: 65))\", scopes: [\"full\"]", "1 to 64"),
            ("name: \"a\\nb\", scopes: [\"full\"]", "1 to 64"), ("name: \"t\", scopes: []", "publish:<topicId>"),
            ("name: \"t\", scopes: [\"write\"]", "publish:<topicId>"),
            ("name: \"t\", scopes: [\"full\"], cidrs: [\"10.0.0.0/33\"]", "no network"),
            ("name: \"t\", scopes: [\"full\"], expiresAt: \"2020-01-01T00:00:00Z\"", "in the future"),
            ("name: \"t\", scopes: [\"full\"], expiresAt: \"2099-01-01T00:00:00Z\"", "at most 3660 days"),
            ("name: \"t\", scopes: [\"read:01900000-0000-7000-8000-000000000009\"]", "no topic"),
        ]
    )
    func refusals(input: String, words: String) async throws {
        let answer = try await create(input)
        #expect(answer["code"] == "BAD_USER_INPUT", "\(answer)")
        #expect(answer["message"]?.stringValue?.contains(words) == true, "\(answer)")
        let networks = (0..<17).map { "\"10.0.0.\($0)\"" }.joined(separator: ", ")
        #expect(try await create("name: \"t\", scopes: [\"full\"], cidrs: [\(networks)]")["code"] == "BAD_USER_INPUT")
    }

    @Test("nobody gives more than they have: what reaches beyond a user is for operators, and a topic of others absent")
    func neverMore() async throws {
        for word in ["push", "metrics", "audit"] {
            #expect(try await create("name: \"t\", scopes: [\"\(word)\"]")["code"] == "UNAUTHORIZED")
        }
        let bobs = try await api.makeTopic("bobs", as: APIHarness.identity("bob"))
        let absent = "01900000-0000-7000-8000-000000000009"
        func answer(_ topic: String) async throws -> String {
            let answer = try await create("name: \"t\", scopes: [\"publish:\(topic)\"]").serializedString()
            return answer.split(separator: topic).joined(separator: "ID")
        }
        #expect(try await answer(bobs) == answer(absent))
        let provider = try await create("name: \"t\", scopes: [\"full\"]", as: APIHarness.identity("bob"))
        #expect(provider["code"] == "BAD_USER_INPUT", "a provider's user has no tokens here")
    }

    @Test(
        "only a full token makes, changes and ends tokens",
        arguments: ["read", "device", "topics", "push", "metrics", "audit", "publish:t", "read:t"]
    )
    func onlyFull(word: String) async throws {
        let (id, narrow) = (try await made(), try caller(word))
        for document in [
            "mutation { createToken(input: { name: \"t\", scopes: [\"\(word)\"] }) { text } }",
            "mutation { updateToken(id: \"\(id)\", input: { name: \"x\" }) { id } }",
            "mutation { rotateToken(id: \"\(id)\") { text } }", "mutation { revokeToken(id: \"\(id)\") { id } }",
            "mutation { revokeAllTokens(user: \"\(ann.userID.text)\") }",
        ] {
            #expect(try await run(document, as: narrow)["code"] == "UNAUTHORIZED", "\(document)")
        }
        #expect(try await row(id).revokedAt == nil)
    }

    /// Somebody else with an account, an admin or not.
    private func other(_ name: String, isAdmin: Bool = false) async throws -> Identity {
        let account = try await api.services.people.add(name: name, isAdmin: isAdmin, by: .shell)
        return Identity(userID: account.id, username: name).with(groups: [], isAdmin: isAdmin, asOf: nil)
    }

    @Test("who looks after a service account, and admins, make, see, change and end its tokens; nobody else does")
    func serviceAccounts() async throws {
        let robot = try await api.services.people.addService(name: "robot", managedBy: "ann", by: .shell)
        let (bob, root) = (try await other("bob"), try await other("root", isAdmin: true))
        let order = "name: \"r\", scopes: [\"full\"], user: \"robot\""
        #expect(try await create(order, as: bob)["code"] == "UNAUTHORIZED")
        for caller in [ann, root] {
            let made = try await create(order, as: caller)
            #expect(made["token"]?["user"] == .string(robot.id.text), "\(made)")
            let id = made["token"]?["id"]?.stringValue ?? ""
            let list = "{ tokens(user: \"robot\") { items { id } } }"
            #expect(try await run(list, as: caller)["items"]?.arrayValue?.isEmpty == false)
            #expect(try await run(list, as: bob)["code"] == "UNAUTHORIZED")
            let rotate = "mutation { rotateToken(id: \"\(id)\") { token { user } } }"
            #expect(try await run(rotate, as: bob)["code"] == "UNAUTHORIZED")
            #expect(try await run(rotate, as: caller)["token"]?["user"] == .string(robot.id.text))
            let revoke = "mutation { revokeToken(id: \"\(id)\") { revokedAt } }"
            #expect(try await run(revoke, as: bob) == run(revoke.replacing(id, with: "nothing"), as: bob))
            #expect(try await run(revoke, as: caller)["revokedAt"] != .null)
        }
    }

    @Test("an admin sees and ends everybody's tokens, and makes none in another person's name")
    func admins() async throws {
        let (id, root) = (try await made(), try await other("root", isAdmin: true))
        #expect(try await run("{ tokens(user: \"ann\") { items { id } } }", as: root)["items"] == [["id": .string(id)]])
        let order = "name: \"r\", scopes: [\"read\"], user: \"ann\""
        #expect(try await create(order, as: root)["code"] == "UNAUTHORIZED")
        let rotate = "mutation { rotateToken(id: \"\(id)\") { text } }"
        #expect(try await run(rotate, as: root)["code"] == "UNAUTHORIZED")
        let update = "mutation { updateToken(id: \"\(id)\", input: { scopes: [\"read\"] }) { scopes } }"
        let narrowed = try await run(update, as: root)
        #expect(narrowed["scopes"] == ["read"], "\(narrowed)")
        #expect(try await run("mutation { revokeAllTokens(user: \"ann\") }", as: root) == 1)
    }

    @Test("admins give the figures and the log of the server, which nobody else does, and no pushes to everybody")
    func serversScopes() async throws {
        let root = try await other("root", isAdmin: true)
        for word in ["metrics", "audit"] {
            let made = try await create("name: \"t\", scopes: [\"\(word)\"]", as: root)
            #expect(made["token"]?["scopes"] == [.string(word)], "\(made)")
        }
        #expect(try await create("name: \"t\", scopes: [\"push\"]", as: root)["code"] == "UNAUTHORIZED")
    }

    @Test("who came in with a token that has ended meanwhile changes and ends none")
    func endedMeanwhile() async throws {
        let (own, id) = (try await made(), try await made())
        _ = try await run("mutation { revokeToken(id: \"\(own)\") { id } }")
        var late = ann
        late.tokenID = TokenID(own)
        for document in [
            "mutation { updateToken(id: \"\(id)\", input: { name: \"x\" }) { id } }",
            "mutation { revokeToken(id: \"\(id)\") { id } }", "mutation { revokeAllTokens(user: \"ann\") }",
        ] {
            #expect(try await run(document, as: late)["code"] == "UNAUTHORIZED", "\(document)")
        }
        #expect(try await row(id).revokedAt == nil)
    }

    @Test("an operator's token names topics that are there")
    func operatorsTopics() async throws {
        let topic = try await api.makeTopic("bobs", as: APIHarness.identity("bob"))
        func make(_ words: [String]) async throws -> IssuedToken {
            let order = TokenService.Order(name: "t", for: ann.userID, scope: try TokenService.scope(of: words))
            return try await api.services.tokens.create(order, by: nil).token
        }
        #expect(try await make(["read:" + topic]).scope.readTopics == [topic])
        await #expect(throws: ServiceError.badInput("There is no topic foo. Give the id of one.")) {
            try await make(["read:foo"])
        }
    }

    @Test("a token is narrowed, and never widened")
    func update() async throws {
        let topic = try await api.makeTopic("alerts", as: ann)
        let id = try await made("name: \"t\", scopes: [\"full\"], cidrs: [\"10.0.0.0/8\"]")
        func update(_ input: String) async throws -> JSONValue {
            try await run("mutation { updateToken(id: \"\(id)\", input: { \(input) }) { \(Self.fields) } }")
        }
        let narrower = try await update(
            "name: \"x\", scopes: [\"read\", \"publish:\(topic)\"], cidrs: [\"10.1.0.0/16\"]"
        )
        #expect(narrower["name"] == "x" && narrower["cidrs"] == ["10.1.0.0/16"], "\(narrower)")
        #expect(narrower["scopes"] == ["read", .string("publish:" + topic)])
        let end = try await row(id).createdAt.adding(seconds: 3600).iso8601
        #expect(try await update("expiresAt: \"\(end)\"")["expiresAt"] == .string(end))
        for wider in [
            "scopes: [\"full\"]", "scopes: [\"device\"]", "cidrs: []", "cidrs: [\"10.0.0.0/8\"]", "cidrs: [\"::1\"]",
            "expiresAt: \"2031-01-01T00:00:00Z\"", "expiresAt: \"2020-01-01T00:00:00Z\"",
        ] {
            #expect(try await update(wider)["code"] == "BAD_USER_INPUT", "\(wider)")
        }
        let after = try await row(id)
        #expect(after.scope.words == ["read", "publish:" + topic] && after.expiresAt.iso8601 == end)
    }

    @Test("narrowing is told to every node, as an end of access; a later end is not, for nodes read it in time")
    func told() async throws {
        let events = EventLog()
        api.hub.add(hearing: .accessEnded) { events.add($0) }
        let id = try await made()
        let ended: [DomainEvent] = [.accessEnded(ann.userID, TokenID(id))]
        _ = try await run("mutation { updateToken(id: \"\(id)\", input: { name: \"x\" }) { id } }")
        _ = try await run("mutation { rotateToken(id: \"\(id)\", overlapSeconds: 3600) { text } }")
        #expect(events.all.isEmpty)
        _ = try await run("mutation { updateToken(id: \"\(id)\", input: { scopes: [\"read\"] }) { id } }")
        #expect(events.all == ended)
        let soon = try await row(id).createdAt.adding(seconds: 10).iso8601
        _ = try await run("mutation { updateToken(id: \"\(id)\", input: { expiresAt: \"\(soon)\" }) { id } }")
        #expect(events.all == ended + ended)
        let other = try await made()
        _ = try await run("mutation { rotateToken(id: \"\(other)\", overlapSeconds: 0) { text } }")
        #expect(events.all == ended + ended + [.accessEnded(ann.userID, TokenID(other))])
    }

    @Test("a rotated token goes on for the overlap; the new one has its rights, and its devices")
    func rotate() async throws {
        let id = try await made("name: \"phone\", scopes: [\"device\"], cidrs: [\"10.0.0.0/8\"]")
        var device = try caller("device")
        device.tokenID = TokenID(id)
        _ = try await run(
            "mutation { registerPushToken(token: \"aa11bb22\", platform: \"ios\", bindToSignIn: true) { userId } }",
            as: device
        )
        let rotated = try await run(
            "mutation { rotateToken(id: \"\(id)\", overlapSeconds: 600) { text token { \(Self.fields) } } }"
        )
        let new = try #require(rotated["token"], "\(rotated)")
        #expect(new["name"] == "phone" && new["scopes"] == ["device"] && new["cidrs"] == ["10.0.0.0/8"])
        let (before, after) = (try await row(id), try await row(new["id"]?.stringValue ?? ""))
        #expect(before.rotatedTo == after.id && before.revokedAt == nil)
        #expect(before.expiresAt <= after.createdAt.adding(seconds: 600))
        let life = after.expiresAt.milliseconds - after.createdAt.milliseconds
        #expect(life == 30 * 86_400_000)
        let devices = try await api.store.read { reader throws(StoreError) in try reader.devices(boundTo: after.id) }
        #expect(devices.count == 1)
        let again = try await run("mutation { rotateToken(id: \"\(id)\") { text } }")
        #expect(again["message"]?.stringValue?.contains("rotated already") == true, "\(again)")
        let long = try await run("mutation { rotateToken(id: \"\(after.id)\", overlapSeconds: 2592001) { text } }")
        #expect(long["code"] == "BAD_USER_INPUT")
    }

    @Test("revoking is final and may be repeated; all of a user's end together")
    func revoke() async throws {
        let (first, second) = (try await made(), try await made())
        let revoked = try await run("mutation { revokeToken(id: \"\(first)\") { \(Self.fields) } }")
        #expect(revoked["revokedAt"]?.stringValue != nil)
        #expect(try await run("mutation { revokeToken(id: \"\(first)\") { \(Self.fields) } }") == revoked)
        for document in [
            "updateToken(id: \"\(first)\", input: { name: \"x\" }) { id }", "rotateToken(id: \"\(first)\") { text }",
        ] {
            #expect(try await run("mutation { \(document) }")["message"]?.stringValue?.contains("ended") == true)
        }
        #expect(try await run("mutation { revokeAllTokens(user: \"ann\") }") == 1)
        #expect(try await row(second).revokedAt != nil)
    }

    @Test("a token that was revoked a moment ago makes no other one")
    func revokedMaker() async throws {
        var maker = ann
        maker.tokenID = TokenID(try await made())
        #expect(try await create("name: \"t\", scopes: [\"full\"]", as: maker)["text"] != nil)
        _ = try await run("mutation { revokeToken(id: \"\(maker.tokenID?.text ?? "")\") { id } }")
        #expect(try await create("name: \"t\", scopes: [\"full\"]", as: maker)["code"] == "UNAUTHORIZED")
    }

    @Test("a user has at most so many good tokens, and those that ended make room")
    func limit() async throws {
        for _ in 0..<5 { _ = try await made() }
        let refused = try await create("name: \"t\", scopes: [\"full\"]")
        #expect(refused["code"] == "LIMIT", "\(refused)")
        let page = try await run("{ tokens(limit: 2) { items { id } nextToken } }")
        let next = try #require(page["nextToken"]?.stringValue)
        let rest = try await run("{ tokens(limit: 9, nextToken: \"\(next)\") { items { id } nextToken } }")
        #expect(page["items"]?.arrayValue?.count == 2 && rest["items"]?.arrayValue?.count == 3)
        _ = try await run("mutation { revokeToken(id: \"\(page["items"]?[0]?["id"]?.stringValue ?? "")\") { id } }")
        _ = try await made()
    }

    @Test("another user's token and one that is not there are answered alike, by every operation")
    func foreign() async throws {
        let id = try await made()
        let account = try await AccountService(environment: api.environment).add(name: "bob", passwordHash: nil)
        let bob = Identity(userID: account.id, username: "bob")
        let absent = "01900000-0000-7000-8000-000000000009"
        for operation in [
            "updateToken(id: \"ID\", input: { name: \"x\" }) { id }", "rotateToken(id: \"ID\") { text }",
            "revokeToken(id: \"ID\") { id }",
        ] {
            var answers: [JSONValue] = []
            for id in [id, absent] {
                let document = operation.split(separator: "ID").joined(separator: id)
                answers.append(try await run("mutation { \(document) }", as: bob))
            }
            #expect(answers[0] == answers[1] && answers[0]["code"] == "UNAUTHORIZED", "\(answers)")
        }
        for user in [ann.userID.text, "ann", absent] {
            #expect(try await run("{ tokens(user: \"\(user)\") { items { id } } }", as: bob)["code"] == "UNAUTHORIZED")
            #expect(try await run("mutation { revokeAllTokens(user: \"\(user)\") }", as: bob)["code"] == "UNAUTHORIZED")
        }
        #expect(try await row(id).revokedAt == nil)
    }

    @Test("me says what the token may do, in the words of before and in those of scopes")
    func me() async throws {
        for (words, scope) in [
            (["full"], "full"), (["read"], "read-only"), (["publish:t"], "publish"), (["push"], "push"),
            (["device"], "device"), (["read:t", "publish:t"], "read:t publish:t"),
        ] {
            var caller = ann
            caller.scope = try #require(Identity.Scope(words: words))
            let me = try await run("{ me { scope scopes } }", as: caller)
            #expect(me["scope"] == .string(scope) && me["scopes"] == .array(words.map { .string($0) }))
        }
    }
}

/// Keeps events that were told.
private final class EventLog: Sendable {
    private let events = Mutex<[DomainEvent]>([])

    var all: [DomainEvent] { events.withLock { $0 } }

    func add(_ more: [DomainEvent]) { events.withLock { $0 += more } }
}
