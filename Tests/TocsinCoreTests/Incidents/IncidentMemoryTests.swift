import Testing
import TocsinCore

@Suite("What is remembered of an incident beside its record")
struct IncidentMemoryTests {
    @Test("ids of who answers are read as they were written, whatever they begin with or have in them")
    func responders() {
        // Combining marks make one character with the sign before them.
        let ids = ["\u{301}cute", "\u{338}", "\u{200D}x", "=equal", "a=b", "plain"]
        var facts = IncidentFacts(source: "s")
        facts.memory = (ids.map { "responder=" + $0 } + ["round=7"]).joined(separator: "\n")
        #expect(facts.responders.map { Array($0.text.utf8) } == ids.map { Array($0.utf8) })
    }
}
