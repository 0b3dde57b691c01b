import Synchronization
import Testing
import TocsinCore

@Suite("What may go, and when")
struct RetentionRuleTests {
    private static let now = Timestamp(milliseconds: 1_000_000)

    @Test(
        "each limit removes by itself, and without one nothing goes",
        arguments: [
            (MessageRetention(), nil, nil, false), (MessageRetention(keptSeconds: 60), 940_000, nil, true),
            (MessageRetention(keptPerTopic: 5), nil, 5, true),
            (MessageRetention(keptSeconds: 0.5, keptPerTopic: 5), 999_500, 5, true),
            // To keep nothing is a limit.
            (MessageRetention(keptSeconds: 0, keptPerTopic: 0), 1_000_000, 0, true),
        ] as [(MessageRetention, Int64?, Int?, Bool)]
    )
    func bounds(retention: MessageRetention, madeBefore: Int64?, keptPerTopic: Int?, isLimited: Bool) {
        #expect(retention.isLimited == isLimited)
        let bounds = retention.bounds(at: Self.now)
        #expect(bounds.madeBefore?.milliseconds == madeBefore)
        #expect(bounds.keptPerTopic == keptPerTopic)
    }

    @Test(
        "what comes after the last message read is unread, and never less than nothing",
        arguments: [(3, 7, 4), (7, 7, 0), (9, 7, 0), (0, 0, 0)] as [(Int64, Int64, Int64)]
    )
    func unread(number: Int64, last: Int64, unread: Int64) {
        #expect(ReadMark(topicID: TopicID("t"), number: number, lastNumber: last).unread == unread)
    }

    @Test("adding up what is stored begins before every row of its table")
    func cursor() {
        let cursor = StorageCursor(ModelTable(name: "records", discriminator: "Note"))
        #expect(cursor.madeAt == .min && cursor.id.isEmpty)
        #expect(cursor.table.discriminator == "Note")
    }

    @Test("changes are synchronised no further back than tombstones are kept")
    func windows() {
        let settings = ModelSettings()
        #expect(settings.deltaSeconds <= settings.tombstoneSeconds)
        #expect(settings.tombstoneSeconds == 30.0 * 86_400)
    }

    @Test("the time of changes never goes back, and goes on when the clock has caught up")
    func changeClock() {
        let (clock, time) = (ChangeClock(), SetTime())
        for (set, told) in [(100, 100), (40, 100), (100, 100), (101, 101), (-5, 101)] as [(Int64, Int64)] {
            time.milliseconds.store(set, ordering: .relaxed)
            #expect(clock.now(time).milliseconds == told)
        }
    }

    @Test("a clock that was first asked before 1970 tells that time")
    func earlyClock() {
        let time = SetTime()
        time.milliseconds.store(-1000, ordering: .relaxed)
        #expect(ChangeClock().now(time).milliseconds == -1000)
    }

    /// A clock that the test sets; nobody sleeps by it.
    private final class SetTime: TimeSource {
        let milliseconds = Atomic<Int64>(0)

        func now() -> Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }
        func sleep(until moment: Timestamp) async throws { throw CancellationError() }
    }
}
