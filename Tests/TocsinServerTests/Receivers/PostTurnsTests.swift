import Synchronization
import Testing
import TocsinServer

@Suite("Turns of long posts", .timeLimit(.minutes(2)))
struct PostTurnsTests {
    private final class AtWork: Sendable {
        let counts = Mutex((now: 0, most: 0))

        func begin() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
        func end() { counts.withLock { $0.now -= 1 } }
    }

    @Test("one post of an owner is worked on, so many wait, others are sent away; other owners go on")
    func bound() async {
        let turns = PostTurns()
        let atWork = AtWork()
        let (release, holding) = AsyncStream.makeStream(of: Void.self)
        let taken = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<PostTurns.maximumWaiting + 4 {
                group.addTask {
                    await turns.take(of: "ada") {
                        atWork.begin()
                        for await _ in release {}
                        await Task.yield()
                        atWork.end()
                        return true
                    } ?? false
                }
            }
            var (taken, refused) = (0, 0)
            for await isTaken in group {
                if isTaken { taken += 1 } else { refused += 1 }
                guard refused == 3, taken == 0 else { continue }
                let other = await turns.take(of: "bob") { true }
                #expect(other == true)
                holding.finish()
            }
            return taken
        }
        #expect(taken == PostTurns.maximumWaiting + 1)
        #expect(atWork.counts.withLock { $0.most } == 1)
        let again = await turns.take(of: "ada") { true }
        #expect(again == true)
    }
}
