import Testing
import TocsinCore

@Suite("The pace of rings")
struct DoorbellThrottleTests {
    /// A pace that may be asked inside an expectation.
    private final class Pace {
        private var pace = DoorbellThrottle()

        var restEnd: ContinuousClock.Instant? { pace.restEnd }

        func ring(_ haste: RingHaste) -> Bool { pace.ring(haste) }

        func isDue(at now: ContinuousClock.Instant) -> Bool { pace.isDue(at: now) }

        func answer(at now: ContinuousClock.Instant) { pace.answer(at: now) }
    }

    private let start = ContinuousClock.now

    private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test("the first ring after silence is answered at once", arguments: [RingHaste.soon, .atOnce])
    func first(haste: RingHaste) {
        let pace = Pace()
        #expect(!pace.isDue(at: start))
        #expect(pace.ring(haste))
        #expect(pace.isDue(at: start))
    }

    @Test("rings that come one by one are answered at once, however close they are")
    func lonely() {
        let pace = Pace()
        for millisecond in 0..<20 {
            #expect(pace.ring(.atOnce))
            #expect(pace.isDue(at: after(millisecond)))
            pace.answer(at: after(millisecond))
            #expect(pace.restEnd == nil)
        }
    }

    @Test("rings of a stream wake nobody and are answered together, the last one too")
    func stream() {
        let pace = Pace()
        var (answers, wakes) = (0, 0)
        for millisecond in 0..<100 {
            if pace.ring(.soon) { wakes += 1 }
            guard pace.isDue(at: after(millisecond)) else { continue }
            pace.answer(at: after(millisecond))
            answers += 1
        }
        #expect(answers == 20)
        #expect(wakes == 1)
        // Four came since the last answer; whoever answers wakes by itself for them.
        #expect(pace.restEnd == after(100))
        #expect(!pace.isDue(at: after(99)))
        #expect(pace.isDue(at: after(100)))
    }

    @Test("one that is to be answered at once does not wait for the rest of a stream, nor end it")
    func hurried() {
        let pace = Pace()
        #expect(pace.ring(.soon))
        pace.answer(at: start)
        #expect(!pace.ring(.soon))
        #expect(!pace.isDue(at: after(1)))
        #expect(pace.ring(.atOnce))
        #expect(!pace.ring(.atOnce))
        #expect(pace.isDue(at: after(1)))
        pace.answer(at: after(1))
        #expect(!pace.ring(.soon))
        #expect(!pace.isDue(at: after(3)))
        #expect(pace.isDue(at: after(6)))
    }

    @Test("after a rest in which nobody rang the next ring of a stream is answered at once")
    func silence() {
        let pace = Pace()
        _ = pace.ring(.soon)
        pace.answer(at: start)
        #expect(!pace.isDue(at: after(5)))
        #expect(pace.restEnd == nil)
        #expect(pace.ring(.soon))
        #expect(pace.isDue(at: after(6)))
    }
}
