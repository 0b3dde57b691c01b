import Synchronization
import Testing
import TocsinServer

@Suite("Turns of long posts", .timeLimit(.minutes(2)))
struct PostTurnsTests {
    @Test("the posts of an owner come one after another, and others' beside them")
    func turns() async {
        let (turns, order) = (PostTurns(), Mutex([String]()))
        let (release, holding) = AsyncStream.makeStream(of: Void.self)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await turns.take(of: "ada") {
                    beginning.finish()
                    for await _ in release {}
                    order.withLock { $0.append("first") }
                }
            }
            for await _ in begun {}
            group.addTask { await turns.take(of: "ada") { order.withLock { $0.append("second") } } }
            await turns.take(of: "bob") { order.withLock { $0.append("other") } }
            holding.finish()
        }
        #expect(order.withLock { $0 } == ["other", "first", "second"])
        #expect(await turns.take(of: "ada") { true } == true)
    }

    @Test("only so many wait; one more is sent away at once")
    func bound() async {
        let turns = PostTurns()
        let (release, holding) = AsyncStream.makeStream(of: Void.self)
        let taken = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<PostTurns.maximumWaiting + 4 {
                group.addTask {
                    await turns.take(of: "ada") {
                        for await _ in release {}
                        return true
                    } ?? false
                }
            }
            // One works and so many wait; the others have their answer before it ends.
            var (taken, refused) = (0, 0)
            for await isTaken in group {
                if isTaken { taken += 1 } else { refused += 1 }
                if refused == 3 { holding.finish() }
            }
            return taken
        }
        #expect(taken == PostTurns.maximumWaiting + 1)
    }
}
