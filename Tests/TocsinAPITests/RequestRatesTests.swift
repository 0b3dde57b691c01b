import GraphQLTransport
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("How often an owner may ask")
struct RequestRatesTests {
    /// A clock that stands still until it is moved.
    private final class Clock: TimeSource {
        private let milliseconds = Mutex<Int64>(1_000_000)

        func now() -> Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }
        func sleep(until moment: Timestamp) async throws {}
        func pass(milliseconds count: Int64) { milliseconds.withLock { $0 += count } }
    }

    @Test("a burst passes, then as many as the rate gives back, for each owner alone")
    func bucket() throws {
        let clock = Clock()
        let rates = RequestRates(perSecond: 2, burst: 3, time: clock)
        #expect((0..<5).map { _ in rates.take("ann") } == [nil, nil, nil, 1, 1])
        #expect(rates.take("bob") == nil)
        clock.pass(milliseconds: 500)
        #expect((0..<2).map { _ in rates.take("ann") } == [nil, 1])
        clock.pass(milliseconds: 60_000)
        #expect((0..<4).map { _ in rates.take("ann") } == [nil, nil, nil, 1])
    }

    @Test(
        "the time to wait is told in whole seconds, rounded up",
        arguments: [(0.01, 100), (0.3, 4), (1, 1), (1000, 1)]
    )
    func waiting(perSecond: Double, seconds: Int) throws {
        let rates = RequestRates(perSecond: perSecond, burst: 1, time: Clock())
        #expect([rates.take("ann"), rates.take("ann")] == [nil, seconds])
    }

    @Test("a clock that goes back neither fills nor empties")
    func backwards() throws {
        let clock = Clock()
        let rates = RequestRates(perSecond: 1, burst: 2, time: clock)
        #expect(rates.take("ann") == nil)
        clock.pass(milliseconds: -900_000)
        #expect([rates.take("ann"), rates.take("ann")] == [nil, 1])
    }

    @Test("so many owners that not all can be remembered are served still")
    func many() throws {
        let rates = RequestRates(perSecond: 1, burst: 1, time: Clock())
        for number in 0..<100_001 { #expect(rates.take("owner \(number)") == nil) }
        #expect(rates.take("owner 100000") == 1)
    }

    @Test("a request takes as many as it has root fields; what it took beyond a full bucket is waited for")
    func fields() throws {
        let clock = Clock()
        let rates = RequestRates(perSecond: 1, burst: 5, time: clock)
        #expect(rates.take("ann", rootFields: 3) == nil)
        #expect(rates.take("ann", rootFields: 3) == 1)
        #expect(rates.take("ann", rootFields: 2) == nil)
        clock.pass(milliseconds: 5_000)
        #expect(rates.take("ann", rootFields: 20) == nil)
        #expect(rates.take("ann") == 16)
        clock.pass(milliseconds: 15_000)
        #expect((0..<2).map { _ in rates.take("ann") } == [1, 1])
    }

    @Test(
        "twenty root fields are twenty requests, however they are written and by whatever way they come",
        arguments: [
            (0..<20).map { "a\($0): me { username }" }.joined(separator: " "),
            "...F } fragment F on Query { " + (0..<20).map { "a\($0): me { username }" }.joined(separator: " "),
        ]
    )
    func rootFields(selection: String) async throws {
        let api = try await APIHarness(rate: (perSecond: 0.001, burst: 39))
        let caller = APIHarness.identity("alice")
        func kind(_ query: String) async -> GraphQLReply.Kind {
            await api.service.execute(GraphQLRequest(query: query), caller: caller, style: .standard).kind
        }
        #expect(await kind("{ \(selection) }") == .executed)
        guard case .tooManyRequests(let seconds) = await kind("{ \(selection) }") else {
            Issue.record("The second one was served.")
            return
        }
        #expect((900...1000).contains(seconds), "one more was needed, at one in a thousand seconds")
        // As a socket's operation.
        let operation = api.service.operation(
            of: GraphQLRequest(query: "{ \(selection) }"),
            caller: caller,
            style: .standard
        )
        guard case .query(let run) = operation else {
            Issue.record("The operation is no query.")
            return
        }
        #expect(await run().kind == .tooManyRequests(retryAfterSeconds: seconds))
        // There is still room for one field at a time.
        #expect(await kind("{ me { username } }") == .executed)
    }

    @Test("no rate is no limit")
    func off() {
        let rates = RequestRates(perSecond: 0, burst: 1, time: Clock())
        for _ in 1...10 { #expect(rates.take("ada") == nil) }
    }
}
