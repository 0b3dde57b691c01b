import GraphQL
import Testing

@Suite("Effort of printing")
struct PrinterEffortTests {
    @Test("lines are indented without copying the text before them", .timeLimit(.minutes(5)))
    func lines() throws {
        let line = "\n    x"
        let count = 200_000
        let document = try parse(
            "{ f(a: \"\"\"" + String(repeating: line, count: count) + "\"\"\") { b } }",
            limits: .unlimited
        )
        let text = printDocument(document)
        #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == count + 7)
        #expect(printDocument(try parse(text, limits: .unlimited)) == text)
    }
}
