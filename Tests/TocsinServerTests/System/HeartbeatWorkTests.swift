import Testing
import TocsinCore
import TocsinServer

@Suite("What a heartbeat vouches for")
struct HeartbeatWorkTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test("it is withheld while writes are refused, a timer is late by more than a minute, or a lane is paused")
    func obstacles() {
        var work = HeartbeatWork()
        #expect(work.obstacle(at: Self.now) == nil)
        work.firstTimer = Self.now.adding(seconds: -60)
        #expect(work.obstacle(at: Self.now) == nil, "a minute is no more than a minute")
        work.firstTimer = Self.now.adding(seconds: -61)
        #expect(work.obstacle(at: Self.now)?.contains("has not been fired") == true)
        work.firstTimer = Self.now.adding(seconds: 3600)
        work.pausedLanes = ["fcm of shop", "apns of shop"]
        #expect(work.obstacle(at: Self.now) == "pushes are paused: apns of shop, fcm of shop")
        work.refusal = "the disk is full"
        #expect(work.obstacle(at: Self.now) == "the database takes no writes: the disk is full")
    }
}
