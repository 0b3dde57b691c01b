import Testing
import TocsinReceivers

@Suite("Severity words")
struct SeverityWordsTests {
    @Test("a word means the same in any case, and an unknown one means nothing")
    func words() {
        #expect(SeverityWords.priority(of: "Critical") == 5)
        #expect(SeverityWords.priority(of: "warning") == 3)
        #expect(SeverityWords.priority(of: "purple") == nil)
    }
}
