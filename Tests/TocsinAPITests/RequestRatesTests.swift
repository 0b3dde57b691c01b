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
        let rates = try #require(RequestRates(perSecond: 2, burst: 3, time: clock))
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
        let rates = try #require(RequestRates(perSecond: perSecond, burst: 1, time: Clock()))
        #expect([rates.take("ann"), rates.take("ann")] == [nil, seconds])
    }

    @Test("a clock that goes back neither fills nor empties")
    func backwards() throws {
        let clock = Clock()
        let rates = try #require(RequestRates(perSecond: 1, burst: 2, time: clock))
        #expect(rates.take("ann") == nil)
        clock.pass(milliseconds: -900_000)
        #expect([rates.take("ann"), rates.take("ann")] == [nil, 1])
    }

    @Test("so many owners that not all can be remembered are served still")
    func many() throws {
        let rates = try #require(RequestRates(perSecond: 1, burst: 1, time: Clock()))
        for number in 0..<100_001 { #expect(rates.take("owner \(number)") == nil) }
        #expect(rates.take("owner 100000") == 1)
    }

    @Test("no rate is no limit")
    func off() {
        #expect(RequestRates(perSecond: 0, burst: 1, time: Clock()) == nil)
    }
}
