import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Live subscriptions to shared topics", .timeLimit(.minutes(5)))
struct SharedFeedTests {
    private static let follow = "subscription($t: ID) { onCreateMessage(topicId: $t) { title topic { name } } }"
    private static let all = "subscription { onCreateMessage { title } }"

    private static func caller(_ name: String, groups: [String] = []) -> Identity {
        var caller = APIHarness.identity(name)
        if !groups.isEmpty { caller = caller.with(groups: groups, isAdmin: false, asOf: nil) }
        return caller
    }

    private static func user(_ name: String) -> GrantSubject { .user(APIHarness.identity(name).userID) }

    private func titles(_ responses: [JSONValue]) -> [String] {
        responses.compactMap { $0["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    private func code(_ sink: CollectingSink) throws -> String? {
        try sink.failure()?["extensions"]?["code"]?.stringValue
    }

    /// The addresses of the responses' bytes: equal ones are one execution's.
    private func addresses(_ sinks: [CollectingSink]) async -> Set<UInt?> {
        // All are kept, so that no address is given again.
        var responses: [SharedResponse] = []
        for sink in sinks { responses += await sink.takeResponses(1) }
        #expect(responses.count == sinks.count)
        return Set(responses.map { $0.body.withUnsafeBufferPointer { $0.baseAddress.map { UInt(bitPattern: $0) } } })
    }

    @Test("readers of one topic get the bytes of one execution, whoever they are and by whatever grant")
    func oneExecution() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.share(topic, with: .group("ops"))
        try await api.share(topic, with: Self.user("zoe"))
        try await api.share(topic, with: .signedIn)
        var sinks: [CollectingSink] = []
        for number in 0..<20 {
            let caller = Self.caller("reader\(number)", groups: number < 10 ? ["ops", "g\(number)"] : [])
            sinks.append(await api.subscribe(Self.follow, ["t": .string(topic)], as: caller).sink)
        }
        sinks.append(await api.subscribe(Self.follow, ["t": .string(topic)], as: Self.caller("zoe")).sink)
        try await api.publish("one", to: topic)
        #expect(await addresses(sinks).count == 1)
    }

    @Test("three hundred readers of one group are one execution of an event")
    func manyReaders() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.share(topic, with: .group("ops"))
        var sinks: [CollectingSink] = []
        for number in 0..<300 {
            let reader = Self.caller("reader\(number)", groups: ["ops"])
            sinks.append(await api.subscribe(Self.follow, ["t": .string(topic)], as: reader).sink)
        }
        try await api.publish("one", to: topic)
        #expect(await addresses(sinks).count == 1)
    }

    @Test("readers who name no topic get the bytes of one execution, too, and their own messages beside it")
    func oneExecutionForAll() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.share(topic, with: .group("ops"))
        var sinks: [CollectingSink] = []
        for number in 0..<20 {
            sinks.append(await api.subscribe(Self.all, as: Self.caller("reader\(number)", groups: ["ops"])).sink)
        }
        try await api.publish("one", to: topic)
        #expect(await addresses(sinks).count == 1)
        let own = try await api.makeTopic("own", as: Self.caller("reader0"))
        try await api.publish("own", to: own, as: Self.caller("reader0"))
        #expect(titles(try await sinks[0].take(1)) == ["own"])
    }

    @Test(
        "who names a cursor gets the feed of their own messages alone, and shared ones have no place in it"
    )
    func ownFeed() async throws {
        let api = try await APIHarness()
        let bob = Self.caller("bob")
        let (topic, own) = (try await api.makeTopic(), try await api.makeTopic("own", as: bob))
        try await api.share(topic, with: Self.user("bob"))
        let (feed, _) = await api.subscribe(#"subscription { onCreateMessage(after: "") { title } }"#, as: bob)
        let (all, _) = await api.subscribe(Self.all, as: bob)
        try await api.publish("shared", to: topic)
        try await api.publish("own", to: own, as: bob)
        #expect(titles(try await feed.take(1)) == ["own"])
        let responses = await all.takeResponses(2)
        #expect(responses.map { $0.cursor == nil } == [true, false])
    }

    @Test("who shares very many topics with people who are connected keeps nobody else from subscribing")
    func manyGrants() async throws {
        let api = try await APIHarness(book: GrantBook(maximumCount: 6, ownersShare: 3))
        let mallory = Self.caller("mallory")
        for number in 0..<10 {
            let topic = try await api.makeTopic("m\(number)", as: mallory)
            try await api.share(topic, with: Self.user("bob"))
        }
        let topic = try await api.makeTopic()
        for name in ["bob", "carol"] { try await api.share(topic, with: Self.user(name)) }
        let (bob, _) = await api.subscribe(Self.all, as: Self.caller("bob"))
        let (carol, _) = await api.subscribe(Self.all, as: Self.caller("carol"))
        try await api.publish("one", to: topic)
        for sink in [bob, carol] { #expect(titles(try await sink.take(1)) == ["one"]) }
    }

    @Test("what shows each reader something else is made for each of them")
    func ownExecution() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.share(topic, with: .signedIn)
        let document = "subscription($t: ID) { onCreateMessage(topicId: $t) { title deliverySummary { accepted } } }"
        var sinks: [CollectingSink] = []
        for name in ["bob", "eve"] {
            sinks.append(await api.subscribe(document, ["t": .string(topic)], as: Self.caller(name)).sink)
        }
        try await api.publish("one", to: topic)
        #expect(await addresses(sinks).count == 2)
    }

    @Test("a grant that is taken back ends its subscriptions behind what was committed before, and no others")
    func takenBack() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.share(topic, with: Self.user("bob"))
        try await api.share(topic, with: .group("ops"))
        let variables: JSONObject = ["t": .string(topic)]
        let (owner, _) = await api.subscribe(Self.follow, variables)
        let (bob, _) = await api.subscribe(Self.follow, variables, as: Self.caller("bob"))
        let (eve, _) = await api.subscribe(Self.follow, variables, as: Self.caller("eve", groups: ["ops"]))
        let (both, _) = await api.subscribe(Self.follow, variables, as: Self.caller("bob", groups: ["ops"]))
        let before = (1...20).map { "\($0)" }
        for title in before.dropLast() { try await api.publish(title, to: topic) }
        // The end waits for what was committed before, but not for long.
        #expect(titles(try await bob.take(19)) == Array(before.dropLast()))
        try await api.publish("20", to: topic)
        try await api.unshare(topic, with: Self.user("bob"))
        try await api.publish("last", to: topic)
        #expect(titles(try await bob.take(2)) == ["20"])
        #expect(try code(bob) == "UNAUTHORIZED")
        for sink in [owner, eve, both] { #expect(titles(try await sink.take(21)) == before + ["last"]) }
        let (again, outcome) = await api.subscribe(Self.follow, variables, as: Self.caller("bob"))
        guard case .refused(let errors) = outcome else {
            Issue.record("let in again")
            return
        }
        #expect(String(decoding: errors, as: UTF8.self).contains("UNAUTHORIZED"))
        _ = again
    }

    @Test("without a topic, shared messages come from the grant on and until its end, each once")
    func withoutTopic() async throws {
        let api = try await APIHarness()
        let (topic, own) = (try await api.makeTopic(), try await api.makeTopic("own", as: Self.caller("bob")))
        let bob = Self.caller("bob", groups: ["ops"])
        let (sink, _) = await api.subscribe(Self.all, as: bob)
        let (named, _) = await api.subscribe(
            #"subscription { onCreateMessage(owner: "bob") { title } }"#,
            as: bob
        )
        try await api.publish("before", to: topic)
        try await api.share(topic, with: Self.user("bob"))
        try await api.publish("by name", to: topic)
        try await api.share(topic, with: .group("ops"))
        try await api.publish("by both", to: topic)
        try await api.unshare(topic, with: Self.user("bob"))
        try await api.publish("by group", to: topic)
        try await api.unshare(topic, with: .group("ops"))
        try await api.publish("after", to: topic)
        try await api.publish("own", to: own, as: bob)
        #expect(titles(try await sink.take(4)) == ["by name", "by both", "by group", "own"])
        #expect(titles(try await named.take(1)) == ["own"])
        #expect(sink.endings.withLock { $0 }.isEmpty)
    }

    @Test("each reader hears exactly what was committed while it was granted", arguments: [false, true])
    func exactly(byGroup: Bool) async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let subject = byGroup ? GrantSubject.group("ops") : Self.user("bob")
        let (sink, _) = await api.subscribe(Self.all, as: Self.caller("bob", groups: ["ops"]))
        var expected: [String] = []
        for number in 0..<200 {
            let isShared = number % 7 < 4
            if number % 7 == 0 { try await api.share(topic, with: subject) }
            if number % 7 == 4 { try await api.unshare(topic, with: subject) }
            try await api.publish("\(number)", to: topic)
            if isShared { expected.append("\(number)") }
        }
        try await api.share(topic, with: subject)
        try await api.publish("end", to: topic)
        #expect(titles(try await sink.take(expected.count + 1)) == expected + ["end"])
    }

    private static let publicTopics = """
        type Topic @model @auth(rules: [{ allow: owner }, { allow: private, operations: [read] }]) {
          id: ID!
          name: String!
          arn: String!
        }
        type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID!
          topic: Topic @hasOne(fields: ["topicId"])
        }
        """

    @Test("where a rule shows topics and not their messages, a grant lets its readers hear these")
    func ruleForTopicsAlone() async throws {
        let api = try await APIHarness(model: Self.publicTopics)
        let topic = try await api.makeTopic()
        let variables: JSONObject = ["t": .string(topic)]
        try await api.share(topic, with: Self.user("bob"))
        let (bob, _) = await api.subscribe(Self.follow, variables, as: Self.caller("bob"))
        let (carol, _) = await api.subscribe(Self.follow, variables, as: Self.caller("carol"))
        let (alice, _) = await api.subscribe(Self.follow, variables)
        try await api.publish("one", to: topic)
        for sink in [bob, alice] { #expect(titles(try await sink.take(1)) == ["one"]) }
        try await api.unshare(topic, with: Self.user("bob"))
        #expect(try await bob.take(1).isEmpty)
        #expect(try code(bob) == "UNAUTHORIZED")
        #expect(carol.endings.withLock { $0 }.isEmpty)
    }

    @Test("a publisher hears nothing of the topic")
    func publisher() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.share(topic, with: Self.user("bob"), roles: .publisher)
        let (sink, _) = await api.subscribe(Self.all, as: Self.caller("bob"))
        let (_, outcome) = await api.subscribe(Self.follow, ["t": .string(topic)], as: Self.caller("bob"))
        guard case .refused = outcome else {
            Issue.record("let in")
            return
        }
        try await api.publish("secret", to: topic)
        try await api.share(topic, with: Self.user("bob"))
        try await api.publish("shown", to: topic)
        #expect(titles(try await sink.take(1)) == ["shown"])
    }

    @Test("a grant that ends by its time ends its subscriptions, and brings nothing more")
    func expired() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        // The database goes by its own clock.
        let end = Timestamp(milliseconds: 4_102_444_800_000)
        try await api.share(topic, with: Self.user("bob"), expiresAt: end)
        let (named, _) = await api.subscribe(Self.follow, ["t": .string(topic)], as: Self.caller("bob"))
        let (all, _) = await api.subscribe(Self.all, as: Self.caller("bob"))
        try await api.publish("in time", to: topic)
        #expect(titles(try await named.take(1)) == ["in time"])
        #expect(titles(try await all.take(1)) == ["in time"])
        api.time.advance(seconds: Double(end.milliseconds - api.time.now().milliseconds) / 1000)
        try await api.publish("late", to: topic)
        #expect(titles(try await named.take(1)).isEmpty)
        #expect(try code(named) == "UNAUTHORIZED")
        let own = try await api.makeTopic("own", as: Self.caller("bob"))
        try await api.publish("own", to: own, as: Self.caller("bob"))
        #expect(titles(try await all.take(1)) == ["own"])
    }

    @Test("a newer token of other groups ends what began by the older one's")
    func otherGroups() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.share(topic, with: .group("ops"))
        let (sink, outcome) = await api.subscribe(
            Self.follow,
            ["t": .string(topic)],
            as: Self.caller("bob", groups: ["ops"])
        )
        guard case .stream(let stream) = outcome else {
            Issue.record("refused")
            return
        }
        api.service.renew(stream, caller: Self.caller("bob"))
        #expect(try await sink.take(1).isEmpty)
        #expect(try code(sink) == "UNAUTHORIZED")
    }

    @Test("a reader resumes the feed of a shared topic by cursor, page by page, and goes live")
    func resumes() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.share(topic, with: Self.user("bob"))
        let first = try await api.publish("0", to: topic)
        for number in 1...60 { try await api.publish("\(number)", to: topic) }
        let cursor = try #require(first["cursor"]?.stringValue)
        let document = "subscription($t: ID, $c: String) { onCreateMessage(topicId: $t, after: $c) { title cursor } }"
        let variables: JSONObject = ["t": .string(topic), "c": .string(cursor)]
        let (sink, _) = await api.subscribe(document, variables, as: Self.caller("bob"))
        try await api.publish("61", to: topic)
        #expect(titles(try await sink.take(61)) == (1...61).map { "\($0)" })
    }

    @Test("no more grants are kept in mind than the server's bound: the subscription is refused with LIMIT")
    func bounded() async throws {
        let api = try await APIHarness(book: GrantBook(maximumCount: 3))
        for number in 0..<4 {
            let topic = try await api.makeTopic("t\(number)")
            try await api.share(topic, with: Self.user("bob"))
            if number == 0 { try await api.share(topic, with: Self.user("eve")) }
        }
        let (_, refused) = await api.subscribe(Self.all, as: Self.caller("bob"))
        guard case .refused(let errors) = refused else {
            Issue.record("let in")
            return
        }
        #expect(String(decoding: errors, as: UTF8.self).contains("LIMIT"))
        let (_, outcome) = await api.subscribe(Self.all, as: Self.caller("eve"))
        guard case .stream = outcome else {
            Issue.record("refused")
            return
        }
    }
}

extension APIHarness {
    /// Lets somebody into a topic, in place of what they had.
    func share(
        _ topic: String,
        with subject: GrantSubject,
        roles: TopicRole = .reader,
        expiresAt: Timestamp? = nil
    ) async throws {
        let (now, id) = (time.now(), environment.identifiers.makeID())
        let (topics, owner) = (schema.topics, Self.identity("alice").owner)
        try await store.write { writer throws(StoreError) in
            let old = try writer.grant(of: subject, in: TopicID(topic))
            var grant = TopicGrant(
                id: old?.id ?? GrantID(id),
                topicID: TopicID(topic),
                subject: subject,
                roles: roles,
                createdAt: now,
                createdBy: UserID("sub-alice")
            )
            grant.expiresAt = expiresAt
            try writer.save(grant, replacing: old)
            let stored = try writer.records(topics, ids: [topic], where: .always).first?.owner
            writer.note(.grantsChanged(GrantChange(grant, owner: stored ?? owner)))
        }
    }

    /// Takes back what somebody had of a topic.
    func unshare(_ topic: String, with subject: GrantSubject) async throws {
        let now = time.now()
        try await store.write { writer throws(StoreError) in
            guard let grant = try writer.grant(of: subject, in: TopicID(topic)) else { return }
            try writer.remove(grant, at: now)
            writer.note(.grantsChanged(GrantChange(ending: subject, in: TopicID(topic))))
        }
    }
}
