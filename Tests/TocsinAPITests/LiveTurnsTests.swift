import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("The turns of live groups", .timeLimit(.minutes(5)))
struct LiveTurnsTests {
    private static let follow = "subscription { onCreateMessage { title } }"
    private static let body = JSONValue.string(String(repeating: "x", count: 1_000))

    private func titles(_ responses: [SharedResponse]) throws -> [String] {
        try responses.compactMap {
            try JSONParser.parse($0.body)["data"]?["onCreateMessage"]?["title"]?.stringValue
        }
    }

    @Test("while a sender has no room a group's events gather, and leave together and in order")
    func gather() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let sender = TestSender()
        let sink = SenderSink(sender)
        _ = await api.subscribe(Self.follow, sink: sink)
        // Another group, whose responses tell that the feed has seen the events.
        let (witness, _) = await api.subscribe("subscription { onCreateMessage { id title } }")
        sender.isFull.withLock { $0 = true }
        for title in ["a", "b", "c", "d", "e"] { try await api.publish(title, to: topic) }
        _ = try await witness.take(5)
        #expect(sender.sizes.withLock { $0 }.isEmpty)
        sender.makeRoom()
        #expect(try titles(await sink.inbox.takeResponses(5)) == ["a", "b", "c", "d", "e"])
        #expect(sender.sizes.withLock { $0 } == [5])
    }

    @Test("who joins while events wait hears those that are committed after, and no others")
    func joining() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let sender = TestSender()
        let (first, second) = (SenderSink(sender), SenderSink(sender))
        let (witness, _) = await api.subscribe("subscription { onCreateMessage { id title } }")
        _ = await api.subscribe(Self.follow, sink: first)
        sender.isFull.withLock { $0 = true }
        try await api.publish("before", to: topic)
        _ = try await witness.take(1)
        _ = await api.subscribe(Self.follow, sink: second)
        try await api.publish("after", to: topic)
        _ = try await witness.take(1)
        sender.makeRoom()
        #expect(try titles(await first.inbox.takeResponses(2)) == ["before", "after"])
        #expect(try titles(await second.inbox.takeResponses(1)) == ["after"])
        try await api.publish("last", to: topic)
        for sink in [first, second] { #expect(try titles(await sink.inbox.takeResponses(1)) == ["last"]) }
    }

    @Test("an owner with many groups keeps nobody else waiting")
    func fairness() async throws {
        let api = try await APIHarness(unsorted: LiveFeed.CommitBound())
        let arrivals = Mutex([String]())
        let (topic, bob) = (try await api.makeTopic(), APIHarness.identity("bob"))
        let bobTopic = try await api.makeTopic("bobs", as: bob)
        var sinks: [SenderSink] = []
        for number in 0..<200 {
            let sink = SenderSink(TestSender { arrivals.withLock { $0.append("alice") } })
            sinks.append(sink)
            // A filter of its own makes a group of its own.
            let query = "subscription { onCreateMessage(filter: {type: {ne: \(1000 + number)}}) { title } }"
            _ = await api.subscribe(query, sink: sink)
        }
        let bobs = SenderSink(TestSender { arrivals.withLock { $0.append("bob") } })
        _ = await api.subscribe(Self.follow, as: bob, sink: bobs)
        try await api.publish("a", to: topic)
        try await api.publish("b", to: bobTopic, as: bob)
        api.startFeed()
        #expect(try titles(await bobs.inbox.takeResponses(1)) == ["b"])
        for sink in sinks { #expect(try titles(await sink.inbox.takeResponses(1)) == ["a"]) }
        let index = try #require(arrivals.withLock { $0.firstIndex(of: "bob") })
        #expect(index < 150, "bob's one group came after \(index) of alice's 200")
    }

    @Test(
        "an owner for whom too much waits is told so, with a cursor, and others go on",
        arguments: [(3, 67_108_864), (65_536, 3_000)]
    )
    func overflow(events: Int, bytes: Int) async throws {
        let api = try await APIHarness(waiting: LiveBacklog.Bound(events: events, bytes: bytes))
        let (topic, bob) = (try await api.makeTopic(), APIHarness.identity("bob"))
        let bobTopic = try await api.makeTopic("bobs", as: bob)
        let sender = TestSender()
        let sink = SenderSink(sender)
        _ = await api.subscribe(Self.follow, sink: sink)
        let (bobSink, _) = await api.subscribe(Self.follow, as: bob)
        sender.isFull.withLock { $0 = true }
        // Each about a kilobyte.
        for title in ["a", "b", "c", "d"] { try await api.publish(title, to: topic, with: ["body": Self.body]) }
        #expect(await sink.inbox.takeResponses(1).isEmpty)
        guard case .failed(let errors)? = sink.inbox.endings.withLock({ $0.first }) else {
            Issue.record("it did not fail")
            return
        }
        let error = try JSONParser.parse(errors)[0]
        #expect(error?["extensions"]?["code"] == "UNAVAILABLE" && error?["extensions"]?["cursor"]?.stringValue != nil)
        try await api.publish("x", to: bobTopic, as: bob)
        #expect(try titles(await bobSink.takeResponses(1)) == ["x"])
    }

    @Test("a group of many that rests keeps no other waiting")
    func rest() async throws {
        let api = try await APIHarness(restTime: .seconds(3600))
        let topic = try await api.makeTopic()
        let sender = TestSender()
        let many = (0..<32).map { _ in SenderSink(sender) }
        for sink in many { _ = await api.subscribe(Self.follow, sink: sink) }
        let few = SenderSink(sender)
        let query = "subscription { onCreateMessage(filter: {type: {ne: 1000}}) { title } }"
        _ = await api.subscribe(query, sink: few)
        for title in ["a", "b"] {
            try await api.publish(title, to: topic)
            #expect(try titles(await few.inbox.takeResponses(1)) == [title])
        }
        // Those of the few alone.
        #expect(sender.sizes.withLock { $0 } == [1, 1])
    }

    @Test("a message that many groups are to hear counts once, and no more once they have heard it")
    func sharedBytes() async throws {
        let api = try await APIHarness(waiting: LiveBacklog.Bound(bytes: 8_000))
        let topic = try await api.makeTopic()
        let (sender, other) = (TestSender(), TestSender())
        var sinks: [SenderSink] = []
        for number in 0..<20 {
            let sink = SenderSink(number == 0 ? other : sender)
            sinks.append(sink)
            let query = "subscription { onCreateMessage(filter: {type: {ne: \(1000 + number)}}) { title } }"
            _ = await api.subscribe(query, sink: sink)
        }
        for _ in 1...3 {
            sender.isFull.withLock { $0 = true }
            for title in ["a", "b", "c"] { try await api.publish(title, to: topic, with: ["body": Self.body]) }
            // One has heard them, and the others are still to.
            #expect(try titles(await sinks[0].inbox.takeResponses(3)) == ["a", "b", "c"])
            sender.makeRoom()
            for sink in sinks.dropFirst() {
                #expect(try titles(await sink.inbox.takeResponses(3)) == ["a", "b", "c"])
            }
        }
    }

    @Test("with and without room each of many gets each message once and in order", arguments: [3, 7])
    func rooms(every: Int) async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let sender = TestSender()
        let sinks = (0..<50).map { _ in SenderSink(sender) }
        for sink in sinks { _ = await api.subscribe(Self.follow, sink: sink) }
        for number in 1...30 {
            try await api.publish(String(number), to: topic)
            if number % every == 0 {
                sender.isFull.withLock { $0 = true }
            } else if number % every == 1 {
                sender.makeRoom()
            }
        }
        sender.makeRoom()
        for sink in sinks { #expect(try titles(await sink.inbox.takeResponses(30)) == (1...30).map(String.init)) }
    }
}

/// A sink that is reached by a sender.
final class SenderSink: ResponseSink {
    let inbox = CollectingSink()
    private let own: TestSender

    init(_ sender: TestSender) { own = sender }

    var sender: (any ResponseSender)? { own }
    func next(_ response: SharedResponse) { inbox.next(response) }
    func end(_ reason: StreamEnd) { inbox.end(reason) }
}

/// A sender that delivers at once and is full when told so.
final class TestSender: ResponseSender {
    let isFull = Mutex(false)
    /// How many responses each delivery had.
    let sizes = Mutex([Int]())
    private let wakers = Mutex([@Sendable () -> Void]())
    private let delivered: @Sendable () -> Void

    init(delivered: @escaping @Sendable () -> Void = {}) { self.delivered = delivered }

    func send(_ responses: [SharedResponse], to sinks: [any ResponseSink], _ watch: (any WriteWatch)?) {
        guard !sinks.isEmpty else { return }
        sizes.withLock { $0.append(responses.count) }
        delivered()
        for sink in sinks { for response in responses { sink.next(response) } }
        watch?.written()
    }

    func hasRoom(for sinks: [any ResponseSink], orCall wake: @escaping @Sendable () -> Void) -> Bool {
        isFull.withLock { isFull in
            if isFull { wakers.withLock { $0.append(wake) } }
            return !isFull
        }
    }

    func makeRoom() {
        let woken = isFull.withLock { isFull in
            isFull = false
            return wakers.withLock { wakers in
                defer { wakers = [] }
                return wakers
            }
        }
        for wake in woken { wake() }
    }
}
