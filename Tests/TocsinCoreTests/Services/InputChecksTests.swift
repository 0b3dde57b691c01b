import Testing
import TocsinCore

@Suite("Input checks")
struct InputChecksTests {
    private let checks = InputChecks(limits: ServiceLimits())

    @Test(
        "an id of letters, digits, hyphens and underscores is taken",
        arguments: ["a", "A-Z_09", String(repeating: "x", count: 64)]
    )
    func goodIDs(id: String) throws {
        try checks.checkID(id, field: "id")
    }

    @Test("any other id is refused", arguments: ["", "a b", "ä", "a/b", "a.b", String(repeating: "x", count: 65)])
    func badIDs(id: String) {
        #expect(throws: ServiceError.self) { try checks.checkID(id, field: "id") }
    }

    @Test(
        "text is limited in bytes and has no NUL",
        arguments: [("aaaa", true), ("ää", true), ("äää", false), ("a\0", false)]
    )
    func texts(text: String, isGood: Bool) {
        let outcome = Result { try checks.checkText(text, field: "t", maximumBytes: 4) }
        #expect(((try? outcome.get()) != nil) == isGood)
    }

    @Test("a NUL is found at every offset of a text", arguments: 0..<20)
    func offsetsOfNUL(offset: Int) throws {
        let (before, after) = (String(repeating: "a", count: offset), String(repeating: "ä", count: 19 - offset))
        #expect(throws: ServiceError.self) {
            try checks.checkText(before + "\0" + after, field: "t", maximumBytes: 100)
        }
        try checks.checkText(before + after, field: "t", maximumBytes: 100)
    }

    @Test("a page is 100 unless asked, at most 1000, and never 0 or less")
    func pages() throws {
        #expect(try checks.pageSize(nil) == 100)
        #expect(try checks.pageSize(7) == 7)
        #expect(try checks.pageSize(5000) == 1000)
        #expect(throws: ServiceError.self) { try checks.pageSize(0) }
        #expect(throws: ServiceError.self) { try checks.pageSize(-1) }
    }
}
