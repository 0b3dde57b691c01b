import Synchronization
import Testing
import TocsinCore
import TocsinServer

@Suite("Reports of internal failures")
struct FailureReportTests {
    private final class Scene: TimeSource, IdentifierSource {
        let milliseconds = Mutex<Int64>(1000)
        let count = Mutex(0)
        let lines = Mutex<[String]>([])

        func now() -> Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }
        func sleep(until moment: Timestamp) async throws { throw CancellationError() }
        func randomUnit() -> Double { 0.5 }
        func makeID() -> String {
            count.withLock { count in
                count += 1
                return "i\(count)"
            }
        }
    }

    @Test("the same failure within a second is one line, whose id all are told; others have lines of their own")
    func shared() {
        let scene = Scene()
        let report = FailureReport(identifiers: scene, time: scene) { id, text in
            scene.lines.withLock { $0.append("\(id) \(text)") }
        }
        let first = (0..<100).map { _ in report("away") }
        #expect(first == Array(repeating: "i1", count: 100))
        #expect(report("full") == "i2")
        scene.milliseconds.withLock { $0 += 1000 }
        #expect(report("away") == "i3")
        #expect(scene.lines.withLock { $0 } == ["i1 away", "i2 full", "i3 away"])
    }

    @Test("many different failures are all told, and what is kept of them is bounded")
    func many() {
        let scene = Scene()
        let report = FailureReport(identifiers: scene, time: scene) { id, _ in scene.lines.withLock { $0.append(id) } }
        #expect(Set((0..<500).map { report("\($0)") }).count == 500)
        #expect(scene.lines.withLock { $0.count } == 500)
    }
}
