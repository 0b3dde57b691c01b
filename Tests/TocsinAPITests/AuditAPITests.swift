import GraphQLTransport
import JSON
import TestDatabases
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("The audit over GraphQL")
struct AuditAPITests {
    private static let bob = APIHarness.identity("bob")
    private static let query = """
        query($filter: AuditEventFilter, $limit: Int, $next: String) {
          auditEvents(filter: $filter, limit: $limit, nextToken: $next) {
            nextToken items { actorKind actor action subjectKind subject detail outcome network requestId }
          }
        }
        """

    private static func page(
        _ api: APIHarness,
        _ filter: JSONObject = [:],
        limit: Int64 = 50,
        next: JSONValue = .null,
        as caller: Identity = APIHarness.identity("alice")
    ) async throws -> JSONValue {
        let variables: JSONObject = ["filter": .object(filter), "limit": .int(limit), "next": next]
        let answer = try await api.run(query, variables, as: caller)
        return answer["data"]?["auditEvents"] ?? answer
    }

    /// `action subject`, the latest first.
    private static func rows(_ page: JSONValue) -> [String] {
        (page["items"]?.arrayValue ?? []).map {
            "\($0["action"]?.stringValue ?? "") \($0["subject"]?.stringValue ?? "")"
        }
    }

    @Test("a topic's making and end are there for its owner, and for nobody else who did not do them")
    func topics() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic("alerts")
        _ = try await api.run("mutation { deleteTopic(input: {id: \"\(topic)\", _version: 1}) { id } }")
        let page = try await Self.page(api)
        #expect(Self.rows(page) == ["topic.delete \(topic)", "topic.create \(topic)"])
        #expect(page["items"]?[0]?["detail"] == #"{"name":"alerts"}"#)
        #expect(page["items"]?[0]?["actor"] == "sub-alice")
        #expect(Self.rows(try await Self.page(api, as: Self.bob)) == [])
    }

    @Test("who has the role OWNER in a topic sees what was done to it, readers and strangers do not")
    func ownersByGrant() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["OWNER"])
        try await scene.granted(["READER"], to: ["user": "carol"])
        let (bobs, carols) = (
            Self.rows(try await Self.page(scene.api, as: Self.bob)),
            Self.rows(try await Self.page(scene.api, as: SharingScene.carol))
        )
        #expect(bobs.filter { $0 == "grant.create \(scene.topic)" }.count == 2, "\(bobs)")
        #expect(bobs.contains("topic.create \(scene.topic)"), "\(bobs)")
        #expect(carols == ["grant.create \(scene.topic)"], "\(carols)")
    }

    @Test("an actor's name means an operator of that name as well as a user")
    func namesakes() async throws {
        let api = try await APIHarness()
        let people = api.services.people
        let ann = try await people.add(name: "ann", by: .shell)
        _ = try await api.makeTopic("anns", as: Identity(userID: ann.id, username: "ann"))
        var environment = api.environment
        environment.operatorName = "ann"
        _ = try await PeopleService(environment: environment).add(name: "carl", by: .shell)
        let root = APIHarness.identity("root").with(groups: [], isAdmin: true, asOf: nil)
        let page = try await Self.page(api, ["actor": "ann"], as: root)
        let kinds = page["items"]?.arrayValue?.compactMap { $0["actorKind"]?.stringValue }
        #expect(kinds == ["OPERATOR", "USER"], "\(page)")
        let first = try await Self.page(api, ["actor": "ann"], limit: 1, as: root)
        let rest = try await Self.page(api, ["actor": "ann"], limit: 1, next: first["nextToken"] ?? .null, as: root)
        #expect(rest["items"]?[0]?["actorKind"] == "USER", "\(rest)")
    }

    @Test("what is refused, repeated, read or published leaves no row")
    func nothing() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic("alerts")
        _ = try await api.run("mutation { createTopic(input: {id: \"\(topic)\", name: \"alerts\"}) { id } }")
        _ = try await api.run("mutation { deleteTopic(input: {id: \"\(topic)\", _version: 7}) { id } }")
        _ = try await api.run("mutation { deleteTopic(input: {id: \"\(topic)\", _version: 1}) { id } }", as: Self.bob)
        try await api.publish("Hello", to: topic)
        _ = try await api.run("{ listTopics { items { id } } }")
        #expect(Self.rows(try await Self.page(api)) == ["topic.create \(topic)"])
        #expect(Self.rows(try await Self.page(api, as: Self.bob)) == [])
    }

    @Test("a phone that moves to another user is a row for both; its token is in none")
    func devices() async throws {
        let api = try await APIHarness()
        let token = String(repeating: "ab", count: 32)
        let register = "mutation { registerPushToken(token: \"\(token)\", platform: \"ios\") { device { id } } }"
        let first = try await api.run(register)["data"]?["registerPushToken"]?["device"]?["id"]?.stringValue
        _ = try await api.run(register)
        let moved = try await api.run(register, as: Self.bob)
        let second = moved["data"]?["registerPushToken"]?["device"]?["id"]?.stringValue
        _ = try await api.run("mutation { unregisterPushToken(token: \"\(token)\") { userId } }", as: Self.bob)
        let (old, new) = try (#require(first), #require(second))
        let ofAlice = try await Self.page(api)
        #expect(Self.rows(ofAlice) == ["device.move \(new)", "device.register \(old)"])
        #expect(Self.rows(try await Self.page(api, as: Self.bob)) == ["device.end \(new)", "device.move \(new)"])
        #expect(!ofAlice.serializedString().contains("abab"))
    }

    @Test("a row says from which network and in which request; of others' acts only that they were done")
    func origins() async throws {
        let api = try await APIHarness()
        let token = String(repeating: "cd", count: 32)
        let document = "mutation { registerPushToken(token: \"\(token)\", platform: \"ios\") { userId } }"
        for caller in [APIHarness.identity("alice"), Self.bob] {
            let lookup = api.service.operation(
                of: GraphQLRequest(query: document),
                caller: caller,
                style: .standard,
                from: RequestSource(remoteAddress: "2001:db8:1:2::3", id: "4-2")
            )
            if case .mutation(let run) = lookup { _ = await run() }
        }
        let networks = try await Self.page(api)["items"]?.arrayValue?.map { $0["network"] ?? .null }
        #expect(networks == [.null, "2001:db8:1::/48"])
        let own = try await Self.page(api, as: Self.bob)["items"]?[0]
        #expect(own?["network"] == "2001:db8:1::/48")
        #expect(own?["requestId"] == "4-2")
    }

    @Test("pages go on where the last one ended, and a page's token is good for its caller alone")
    func pages() async throws {
        let api = try await APIHarness()
        for number in 1...5 { _ = try await api.makeTopic("t\(number)") }
        var (seen, next, pages) = ([String](), JSONValue.null, 0)
        repeat {
            let page = try await Self.page(api, limit: 2, next: next)
            seen += (page["items"]?.arrayValue ?? []).compactMap { $0["detail"]?.stringValue }
            next = page["nextToken"] ?? .null
            pages += 1
        } while next != .null && pages < 9
        #expect(seen == (1...5).reversed().map { "{\"name\":\"t\($0)\"}" })
        #expect(pages == 3)
        let token = try await Self.page(api, limit: 2)["nextToken"] ?? .null
        let stolen = try await Self.page(api, limit: 2, next: token, as: Self.bob)
        #expect(stolen["errors"]?[0]?["extensions"]?["code"] == "BAD_REQUEST")
    }

    @Test(
        "who may not read it is told so",
        arguments: [Identity.Scope.publish(topic: "t"), .push]
    )
    func scopes(scope: Identity.Scope) async throws {
        let api = try await APIHarness()
        var caller = APIHarness.identity("alice")
        caller.scope = scope
        let answer = try await Self.page(api, as: caller)
        #expect(answer["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED")
        let key = Identity(userID: UserID(""), username: "", tokenID: TokenID("k"), provider: .apiKey)
        #expect(try await Self.page(api, as: key)["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED")
    }

    @Test(
        "bad filters get a clear error",
        arguments: [
            (["since": "2026-11-24T08:00:00"], "BAD_USER_INPUT"),
            (["action": .string(String(repeating: "x", count: 300))], "BAD_REQUEST"),
        ] as [(JSONObject, JSONValue)]
    )
    func badFilters(filter: JSONObject, code: JSONValue) async throws {
        let api = try await APIHarness()
        #expect(try await Self.page(api, filter)["errors"]?[0]?["extensions"]?["code"] == code)
    }

    @Test("tokens that are refused are a row for each token and network a minute, with a count")
    func refused() async throws {
        let api = try await APIHarness()
        let refused = RefusedTokens(environment: api.environment)
        for _ in 0..<3 {
            refused.note(.init(token: "t1", user: UserID("sub-alice"), reason: "over", address: "192.0.2.1"))
            refused.note(.init(token: "t1", user: UserID("sub-alice"), reason: "over", address: "192.0.2.200"))
        }
        refused.note(.init(token: "t1", user: UserID("sub-alice"), reason: "over", address: "198.51.100.1"))
        try await refused.write()
        #expect(try await Self.page(api)["items"] == [], "their minute is not over")
        api.time.advance(seconds: 60)
        try await refused.write()
        let rows = try await Self.page(api, ["outcome": "REFUSED"])["items"]?.arrayValue ?? []
        #expect(Set(rows.map { $0["network"] }) == ["192.0.2.0/24", "198.51.100.0/24"])
        let large = rows.first { $0["network"] == "192.0.2.0/24" }?["detail"]?.stringValue ?? ""
        #expect(large.hasPrefix(#"{"count":6,"reason":"over","from":"2026-"#), "\(large)")
    }

    @Test("an attack with a thousand tokens is sixty rows a minute, and none is lost from the count")
    func flood() async throws {
        let api = try await APIHarness()
        let refused = RefusedTokens(environment: api.environment)
        for number in 0..<1000 { refused.note(.init(token: "t\(number)", reason: "bad", address: "192.0.2.1")) }
        try await refused.write(all: true)
        let found = try await api.store.read { reader throws(StoreError) in
            try reader.auditEvents(AuditQuery(limit: 2000))
        }
        // The clock of this test may begin another minute on the way.
        #expect((60...120).contains(found.count))
        let counts = found.compactMap { try? JSONParser.parse($0.detail)["count"]?.intValue }
        #expect(counts.reduce(0, +) == 1000)
    }
}
