import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("Replays of long messages and slow readers", .timeLimit(.minutes(5)))
struct ReplayPageTests {
    private let titles = { FeedScene.titles($0) }

    @Test("long messages among short ones come whole, once and in order, then those that are live")
    func long() async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        for number in 1...90 {
            let body = JSONValue.string(String(repeating: "x", count: number % 10 == 0 ? 200_000 : 10))
            try await scene.api.publish("\(number)", to: topic, with: ["body": body])
        }
        let (sink, _) = await scene.follow(topic, after: "")
        #expect(titles(try await sink.take(90)) == (1...90).map(String.init))
        try await scene.api.publish("live", to: topic)
        #expect(titles(try await sink.take(1)) == ["live"])
    }

    @Test(
        "few of an owner's replays have a page under way while none is taken; other owners' go on, and so do these then"
    )
    func turns() async throws {
        let scene = try await FeedScene()
        let (topic, bob) = (try await scene.api.makeTopic(), APIHarness.identity("bob"))
        let bobTopic = try await scene.api.makeTopic("bobs", as: bob)
        try await scene.publish((1...40).map(String.init), to: [topic])
        try await scene.publish(["x"], to: [bobTopic], as: bob)
        let gate = TakenGate()
        let sinks = (0..<40).map { _ in HeldSink(gate) }
        let document = "subscription { onCreateMessage(topicId: \"\(topic)\", after: \"\") { title } }"
        for sink in sinks { _ = await scene.api.subscribe(document, sink: sink) }
        await gate.waiting(atLeast: 16)
        let (bobs, _) = await scene.follow(bobTopic, after: "", as: bob)
        #expect(titles(try await bobs.take(1)) == ["x"])
        #expect(sinks.count { $0.hasBegun } == 16)
        gate.open()
        for sink in sinks {
            #expect(titles(try await sink.inbox.take(40)) == (1...40).map(String.init))
        }
    }
}

/// What sinks have handed over is taken when the gate is opened.
private final class TakenGate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let counts: AsyncStream<Int>
    private let counter: AsyncStream<Int>.Continuation

    init() { (counts, counter) = AsyncStream.makeStream() }

    func pass() async {
        await withCheckedContinuation { continuation in
            let count = state.withLock { state -> Int? in
                if state.isOpen { return nil }
                state.waiters.append(continuation)
                return state.waiters.count
            }
            if let count { counter.yield(count) } else { continuation.resume() }
        }
    }

    func waiting(atLeast count: Int) async {
        for await waiting in counts where waiting >= count { return }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// A sink of a peer that takes what it is handed when a gate is opened.
private final class HeldSink: ResponseSink {
    let inbox = CollectingSink()
    private let gate: TakenGate
    private let begun = Atomic(false)

    init(_ gate: TakenGate) { self.gate = gate }

    /// Whether anything was handed over.
    var hasBegun: Bool { begun.load(ordering: .relaxed) }

    func next(_ response: SharedResponse) {
        begun.store(true, ordering: .relaxed)
        inbox.next(response)
    }
    func end(_ reason: StreamEnd) { inbox.end(reason) }
    func allTaken() async { await gate.pass() }
}
