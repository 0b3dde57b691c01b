import Logging
import Testing
import TocsinCore
import TocsinServer

@Suite("Folded lines of the log")
struct LineFoldingTests {
    /// Lines by a clock that is told how late it is.
    private struct Scene {
        var folding = LineFolding()
        var now: Int64 = 1_000_000

        mutating func take(
            _ event: String,
            _ reason: String = "r",
            level: Logger.Level = .error,
            request: String? = nil
        ) -> [String] {
            var fields: Logger.Metadata = ["event": "\(event)", "reason": "\(reason)"]
            if let request { fields["request_id"] = "\(request)" }
            let line = LogLine(level, "it failed", fields, at: Timestamp(milliseconds: now))
            return folding.take(line).map(Self.shown)
        }

        mutating func due(all: Bool = false) -> [String] {
            folding.due(at: Timestamp(milliseconds: now), all: all).map(Self.shown).sorted()
        }

        private static func shown(_ line: LogLine) -> String {
            guard case .int(let count) = line["count"] else { return line.event }
            return "\(line.event) ×\(count)"
        }
    }

    @Test("what repeats is one line a second, and the next one says how many it stands for")
    func repeats() {
        var scene = Scene()
        #expect(scene.take("a") == ["a"])
        for _ in 1...9 { #expect(scene.take("a") == []) }
        #expect(scene.take("a", "other reason") == ["a"])
        #expect(scene.take("b") == ["b"])
        #expect(scene.due() == [], "the second is not over")
        scene.now += 1000
        #expect(scene.take("a") == ["a ×10"])
        #expect(scene.take("a") == [])
        scene.now += 1000
        #expect(scene.due() == ["a"], "one that was held back needs no count")
        scene.now += 1000
        #expect(scene.due() == [])
        #expect(scene.take("a") == ["a"], "it was quiet: the first is written at once")
    }

    @Test("at the stop all that was held back is written")
    func end() {
        var scene = Scene()
        for _ in 1...5 { _ = scene.take("a") }
        #expect(scene.due(all: true) == ["a ×4"])
        #expect(scene.due(all: true) == [])
    }

    @Test("notices and what is below them, and lines that name a request, are not folded")
    func single() {
        var scene = Scene()
        for number in 1...3 {
            #expect(scene.take("i", level: .info) == ["i"])
            #expect(scene.take("n", level: .notice) == ["n"])
            #expect(scene.take("e", request: "r\(number)") == ["e"])
        }
    }

    @Test("a clock that was set back holds nothing up")
    func setBack() {
        var scene = Scene()
        #expect(scene.take("a") == ["a"])
        #expect(scene.take("a") == [])
        scene.now -= 60_000
        #expect(scene.due() == ["a"])
        #expect(scene.take("b") == ["b"])
    }

    @Test("a second has at most 2,000 lines, some of them for trouble alone; then one line tells how many were dropped")
    func bounded() {
        var scene = Scene()
        let details = (1...5000).flatMap { _ in scene.take("i", level: .info) }
        #expect(details.count == 1800)
        let troubles = (1...5000).flatMap { scene.take("e\($0)") }
        #expect(troubles.count == 200)
        #expect(scene.folding.dropped == 3200 + 4800)
        scene.now += 1000
        #expect(scene.take("i", level: .info) == ["log_dropped ×8000", "i"])
        #expect(scene.take("i", level: .info) == ["i"])
    }

    @Test("reasons without end are folded by their event, and what is kept of them is bounded")
    func manyReasons() {
        var scene = Scene()
        let written = (1...1000).flatMap { scene.take("a", "\($0)") }
        #expect(written.count == 257)
        scene.now += 1000
        #expect(scene.due() == ["a ×743"])
    }
}
