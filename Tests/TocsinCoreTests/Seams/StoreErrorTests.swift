import Testing
import TocsinCore

@Suite("Errors of the store")
struct StoreErrorTests {
    private static let secret = "SELECT token FROM devices at /var/lib/tocsin"

    private static let errors: [StoreError] = [
        .unavailable(reason: "the disk is full", detail: secret),
        .overtaken(isWhole: true, code: 40001, message: secret, sql: secret),
        .uncertain(reason: "the connection was lost", detail: secret),
        .statement(code: 1, message: secret, sql: secret), .unstorable(sql: secret), .mismatch(reason: secret),
        .tooLarge(bytes: 7), .stopped,
    ]

    @Test("what anyone may read of an error has no statement and no path", arguments: errors)
    func sentences(error: StoreError) {
        #expect(!error.sentence.contains("SELECT") && !error.sentence.contains("/var"))
    }

    @Test("operators read all that is known", arguments: errors.prefix(6))
    func descriptions(error: StoreError) {
        #expect(error.description.contains(Self.secret))
    }

    @Test(
        "each error of the store is one refusal to clients; what is our fault keeps its details for the log",
        arguments: [
            (.unavailable(reason: "full", detail: secret), .unavailable("full")),
            (.uncertain(reason: "lost", detail: secret), .uncertain("lost")),
            (.unstorable(sql: secret), .badRequest("A text contains a NUL character, which is not allowed.")),
            (.stopped, .unavailable("the server is stopping")),
            (.mismatch(reason: "level 3"), .internal("level 3")),
            (.statement(code: 1, message: "m", sql: "s"), .internal("Database error 1: m in: s")),
            (.overtaken(isWhole: false, code: 5, message: "m", sql: "s"), .internal("Database error 5: m in: s")),
        ] as [(StoreError, ServiceError)]
    )
    func refusals(error: StoreError, refusal: ServiceError) {
        #expect(ServiceError(error) == refusal)
    }

    @Test("a request for too much is told the limit, and what to do")
    func tooLarge() {
        guard case .limit(let words) = ServiceError(.tooLarge(bytes: 4096)) else {
            Issue.record("It is no limit.")
            return
        }
        #expect(words.contains("4096 bytes") && words.contains("fewer records"))
    }
}
