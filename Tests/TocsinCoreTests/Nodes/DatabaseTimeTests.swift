import Synchronization
import Testing
import TocsinCore

@Suite("Database time")
struct DatabaseTimeTests {
    /// A clock that the test sets.
    private final class OwnClock: TimeSource {
        let milliseconds = Atomic<Int64>(1_000_000)
        let wakeTimes = Mutex<[Timestamp]>([])

        func now() -> Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }
        let onWaking = Mutex<[@Sendable () -> Void]>([])

        /// Is there at once, and does what is next to be done while one sleeps.
        func sleep(until moment: Timestamp) async throws {
            wakeTimes.withLock { $0.append(moment) }
            milliseconds.store(max(moment.milliseconds, milliseconds.load(ordering: .relaxed)), ordering: .relaxed)
            onWaking.withLock { $0.isEmpty ? nil : $0.removeFirst() }?()
        }
    }

    @Sendable private func measured(_ asked: Int64, _ database: Int64, _ answered: Int64) -> DatabaseTime.Measurement {
        DatabaseTime.Measurement(
            asked: Timestamp(milliseconds: asked),
            database: Timestamp(milliseconds: database),
            answered: Timestamp(milliseconds: answered)
        )
    }

    @Test("without a measurement it is the node's own")
    func unmeasured() {
        #expect(DatabaseTime(OwnClock()).now() == Timestamp(milliseconds: 1_000_000))
    }

    @Test("it is the database's, and a sleep ends when that says so by the node's own clock")
    func moved() async throws {
        let clock = OwnClock()
        let time = DatabaseTime(clock)
        time.note(measured(999_990, 1_050_000, 1_000_010))
        #expect(time.difference == 50_000)
        #expect(time.now() == Timestamp(milliseconds: 1_050_000))
        try await time.sleep(until: Timestamp(milliseconds: 1_051_000))
        #expect(clock.wakeTimes.withLock { $0 } == [Timestamp(milliseconds: 1_001_000)])
    }

    @Test("a sleep goes on when a measurement on the way has moved the clock back")
    func movedBack() async throws {
        let clock = OwnClock()
        let time = DatabaseTime(clock)
        time.note(measured(999_990, 1_050_000, 1_000_010))
        clock.onWaking.withLock { $0 = [{ time.note(measured(1_001_000, 1_050_990, 1_001_000)) }] }
        try await time.sleep(until: Timestamp(milliseconds: 1_051_000))
        #expect(time.now() >= Timestamp(milliseconds: 1_051_000))
        #expect(clock.wakeTimes.withLock { $0.map(\.milliseconds) } == [1_001_000, 1_001_010])
    }

    @Test("of the last measurements the quickest counts")
    func quickest() {
        let time = DatabaseTime(OwnClock())
        time.note(measured(0, 450, 800))
        time.note(measured(1000, 1011, 1002))
        time.note(measured(2000, 2300, 2400))
        #expect(time.difference == 10)
        for start in 1...20 {
            time.note(measured(Int64(start) * 10_000, Int64(start) * 10_000 + 70, Int64(start) * 10_000 + 100))
        }
        #expect(time.difference == 20)
    }

    @Test("a clock that was set is noticed at once", arguments: [-3_600_000, 5000, 3_600_000])
    func setClock(by step: Int64) {
        let time = DatabaseTime(OwnClock())
        time.note(measured(0, 11, 2))
        time.note(measured(1000 - step, 1011, 1100 - step))
        #expect(abs(time.difference - step) <= 60)
    }

    @Test("a measurement during which the node's own clock went back teaches nothing")
    func wentBack() {
        let time = DatabaseTime(OwnClock())
        time.note(measured(0, 11, 2))
        time.note(measured(5000, 5100, 4000))
        #expect(time.difference == 10)
    }
}
