import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// `onAuditEvent`: the audit as it is written.
@Suite("Following the audit", .timeLimit(.minutes(2)))
struct AuditFeedTests {
    private static let document = "subscription { onAuditEvent { id at action actor subject network detail outcome } }"
    private static let root = APIHarness.identity("root").with(groups: [], isAdmin: true, asOf: nil)

    private static func caller(_ scope: String..., isAdmin: Bool) -> Identity {
        var caller = isAdmin ? root : APIHarness.identity("ann")
        caller.scope = Identity.Scope(words: scope) ?? .full
        return caller
    }

    /// Adds rows as another program would: one transaction, told to nobody.
    private static func record(_ api: APIHarness, _ names: [String], at moment: Timestamp? = nil) async throws {
        let moment = moment ?? api.time.now()
        try await api.store.write { writer throws(StoreError) in
            for name in names {
                try writer.record(
                    AuditEvent(
                        id: api.environment.identifiers.makeID(),
                        at: moment,
                        actor: AuditActor(kind: .user, id: "sub-ann"),
                        action: "topic.create",
                        subject: .topic(TopicID(name)),
                        about: nil,
                        detail: [:],
                        outcome: .done
                    )
                )
            }
        }
    }

    private static func subjects(_ sink: CollectingSink, _ count: Int) async throws -> [String] {
        try await sink.take(count).map { $0["data"]?["onAuditEvent"]?["subject"]?.stringValue ?? "\($0)" }
    }

    private static func code(_ outcome: SubscribeOutcome) throws -> String? {
        guard case .refused(let errors) = outcome else { return nil }
        return try JSONParser.parse(errors)[0]?["extensions"]?["code"]?.stringValue
    }

    @Test("each row comes once and whole, from the subscription on, whoever wrote it")
    func follows() async throws {
        let api = try await APIHarness()
        try await Self.record(api, ["before"])
        let (sink, _) = await api.subscribe(Self.document, as: Self.root)
        try await Self.record(api, ["first"])
        let topic = try await api.makeTopic("alerts", as: APIHarness.identity("ann"))
        let rows = try await sink.take(2).compactMap { $0["data"]?["onAuditEvent"] }
        #expect(rows.map { $0["subject"] } == ["first", .string(topic)])
        #expect(rows[1]["action"] == "topic.create" && rows[1]["actor"] == "sub-ann")
        #expect(rows[1]["detail"] == #"{"name":"alerts"}"# && rows[1]["outcome"] == "DONE")
        let (later, _) = await api.subscribe(Self.document, as: Self.caller("audit", isAdmin: false))
        try await Self.record(api, ["last"])
        for sink in [sink, later] { #expect(try await Self.subjects(sink, 1) == ["last"]) }
    }

    @Test("a row that was committed late, behind rows of later times, is not lost, and none comes twice")
    func late() async throws {
        let api = try await APIHarness()
        let (sink, _) = await api.subscribe(Self.document, as: Self.root)
        let now = api.time.now()
        try await Self.record(api, ["later"], at: now)
        #expect(try await Self.subjects(sink, 1) == ["later"])
        try await Self.record(api, ["late"], at: now.adding(seconds: -50))
        #expect(try await Self.subjects(sink, 1) == ["late"])
        // A program whose clock is ahead hides nobody else's rows.
        try await Self.record(api, ["ahead"], at: now.adding(seconds: 3600))
        #expect(try await Self.subjects(sink, 1) == ["ahead"])
        try await Self.record(api, ["next"], at: api.time.now())
        #expect(try await Self.subjects(sink, 1) == ["next"])
        api.time.advance(seconds: 300)
        try await Self.record(api, ["much later"], at: api.time.now())
        #expect(try await Self.subjects(sink, 1) == ["much later"])
    }

    @Test("more rows than are read at once come all, in the order of their times")
    func many() async throws {
        let api = try await APIHarness()
        let (sink, _) = await api.subscribe(Self.document, as: Self.root)
        let names = (0..<1300).map { "t\($0)" }
        for name in names.chunks(of: 100) { try await Self.record(api, Array(name), at: api.time.now()) }
        #expect(Set(try await Self.subjects(sink, names.count)) == Set(names))
        try await Self.record(api, ["end"])
        #expect(try await Self.subjects(sink, 1) == ["end"])
    }

    @Test("administrators and tokens of the scope audit may, everybody else is refused")
    func rights() async throws {
        let api = try await APIHarness()
        let may = [Self.root, Self.caller("read", isAdmin: true), Self.caller("audit", isAdmin: false)]
        for caller in may {
            guard case .stream(let stream) = await api.subscribe(Self.document, as: caller).outcome else {
                Issue.record("refused: \(caller.scope.words)")
                continue
            }
            stream.cancel()
        }
        let key = Identity(userID: UserID(""), username: "", tokenID: TokenID("k"), provider: .apiKey)
        let mayNot = [
            Self.caller("full", isAdmin: false), Self.caller("read", isAdmin: false),
            Self.caller("topics", isAdmin: true), Self.caller("read:t", isAdmin: true),
            Self.caller("push", isAdmin: true), key,
        ]
        for caller in mayNot {
            let outcome = await api.subscribe(Self.document, as: caller).outcome
            #expect(try Self.code(outcome) == "UNAUTHORIZED", "\(caller.username) \(caller.scope.words)")
        }
    }

    @Test("who is administrator no more, or whose token has ended, hears nothing more; others go on")
    func ends() async throws {
        let api = try await APIHarness()
        let moment = api.time.now()
        let admin = APIHarness.identity("eve").with(groups: [], isAdmin: true, asOf: moment)
        var revoked = Self.root
        revoked.tokenID = TokenID("t1")
        let (unmade, _) = await api.subscribe(Self.document, as: admin)
        let (ended, _) = await api.subscribe(Self.document, as: revoked)
        let (kept, _) = await api.subscribe(Self.document, as: Self.caller("audit", isAdmin: false))
        api.hub.publish([.rightsChanged(admin.userID, at: moment.adding(seconds: 1))])
        api.hub.publish([.accessEnded(revoked.userID, TokenID("t1"))])
        for sink in [unmade, ended] { #expect(try await sink.take(1) == []) }
        #expect(unmade.endings.withLock { $0 } == [.rightsChanged])
        #expect(ended.endings.withLock { $0 } == [.unauthorized])
        try await Self.record(api, ["secret"])
        #expect(try await Self.subjects(kept, 1) == ["secret"])
    }

    @Test("a newer token of somebody who is no administrator ends what began with an administrator's")
    func renewal() async throws {
        let api = try await APIHarness()
        let (sink, outcome) = await api.subscribe(Self.document, as: Self.root)
        guard case .stream(let stream) = outcome else {
            Issue.record("refused")
            return
        }
        api.service.renew(stream, caller: Self.root)
        #expect(sink.endings.withLock { $0 } == [])
        api.service.renew(stream, caller: APIHarness.identity("root"))
        #expect(try await sink.take(1) == [])
        #expect(try sink.failure()?["extensions"]?["code"] == "UNAUTHORIZED")
    }

    @Test("a subscriber that takes nothing is ended when too many rows wait")
    func slow() async throws {
        let api = try await APIHarness()
        let sink = BlockedSink()
        _ = await api.subscribe(Self.document, as: Self.root, sink: sink)
        for part in 0..<5 { try await Self.record(api, (0..<500).map { "\(part).\($0)" }) }
        while sink.endings.isEmpty { await Task.yield() }
        guard case .failed(let errors)? = sink.endings.first else {
            Issue.record("\(sink.endings)")
            return
        }
        #expect(try JSONParser.parse(errors)[0]?["extensions"]?["code"] == "UNAVAILABLE")
    }

    @Test("a server that stops ends those who follow, and takes nobody in")
    func stopping() async throws {
        let api = try await APIHarness()
        let (sink, _) = await api.subscribe(Self.document, as: Self.root)
        api.feed.stop()
        #expect(try await sink.take(1) == [])
        #expect(sink.endings.withLock { $0 } == [.shuttingDown])
        #expect(try Self.code(await api.subscribe(Self.document, as: Self.root).outcome) == "UNAVAILABLE")
    }
}

extension Array {
    fileprivate func chunks(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
