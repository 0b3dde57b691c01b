import Synchronization
import Testing
import TocsinServer

@Suite("What stands still")
struct StallWatchTests {
    private final class Count: Sendable {
        let value = Mutex<Int?>(0)
    }

    @Test("what does not change within its time stands still, and no longer once it goes on")
    func still() {
        let (watch, loop, writer) = (StallWatch(), Count(), Count())
        watch.add("loop", patienceSeconds: 10) { loop.value.withLock { $0 } }
        watch.add("writer", patienceSeconds: 60) { writer.value.withLock { $0 } }
        for _ in 0...9 { watch.look() }
        #expect(watch.stalled.isEmpty)
        watch.look()
        #expect(watch.stalled == ["loop"])
        for _ in 1...50 { watch.look() }
        #expect(watch.stalled == ["loop", "writer"])
        loop.value.withLock { $0 = 1 }
        watch.look()
        #expect(watch.stalled == ["writer"])
    }

    @Test("what has nothing to do may rest for ever")
    func resting() {
        let (watch, writer) = (StallWatch(), Count())
        watch.add("writer", patienceSeconds: 2) { writer.value.withLock { $0 } }
        for _ in 1...2 { watch.look() }
        writer.value.withLock { $0 = nil }
        for _ in 1...100 { watch.look() }
        #expect(watch.stalled.isEmpty)
        // The next piece of work has all of its time.
        writer.value.withLock { $0 = 0 }
        for _ in 1...2 { watch.look() }
        #expect(watch.stalled.isEmpty)
        watch.look()
        #expect(watch.stalled == ["writer"])
    }
}
