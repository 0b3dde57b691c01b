import GraphQL
import JSON
import Testing

private let schema = Result {
    try Schema(
        sdl: """
            type Query { topics(limit: Int, first: Int): Page! all: [Topic!]! grid: [[Topic]] one: Topic shown(first: Int = 30): [Topic] }
            type Page { items: [Topic]! nextToken: String }
            type Topic {
              id: ID! name: String topics(limit: Int): Page related(first: Int): [Topic]
              steps: [Step!] @listSize(assumedSize: 5)
            }
            type Step { name: String turns: [Turn!] @listSize(assumedSize: 3) }
            type Turn { user: String }
            directive @listSize(assumedSize: Int!) on FIELD_DEFINITION
            """
    )
}

@Suite("OperationCost rule")
struct OperationCostRuleTests {
    private func cost(_ document: String) throws -> Int64? {
        var limits = ValidationLimits.standard
        limits.maximumCost = 0
        let errors = validate(try parse(document), against: try schema.get(), limits: limits)
        return errors.first?.extensions["cost"]?.intValue
    }

    @Test(
        "a field costs one, times the pages it stands in",
        arguments: [
            ("{ one { id name } }", 3),
            ("{ all { id name } }", 201),
            ("{ grid { id } }", 10001),
            ("{ one { related(first: 7) { id name } } }", 2 + 7 * 2),
            ("{ topics { items { id } nextToken } }", 103),
            ("{ topics(limit: 20) { items { id name } nextToken } }", 43),
            ("{ topics(first: 20) { items { topics(limit: 5) { items { id } } } } }", 142),
            ("{ topics(limit: 1000000) { items { id } } }", 1002),
            ("{ shown { id } }", 31),
            ("{ shown(first: 5) { id } }", 6),
            ("{ topics(limit: -3) { items { id } } }", 3),
            ("query ($n: Int) { topics(limit: $n) { items { id } } }", 3),
            ("{ one { ...F ...F } } fragment F on Topic { id name }", 3),
            ("{ a: one { ...F } b: one { ...F } } fragment F on Topic { id name }", 6),
            ("{ one { steps { name } } }", 7),
            ("{ one { steps { name turns { user } } } }", 27),
            ("{ all { steps { name } } }", 601),
            ("{ __schema { types { fields { name } } } }", 4),
        ]
    )
    func costs(document: String, expected: Int64) throws {
        #expect(try cost(document) == expected)
    }

    @Test("an operation that costs too much is refused, saying how much and what to do")
    func refused() throws {
        let document = "{ all { related(first: 600) { id } } }"
        let error = try #require(validate(try parse(document), against: try schema.get()).first)
        #expect(error.message.hasPrefix("The operation costs 60101; at most 50000 are allowed. Ask for fewer fields"))
        #expect(error.extensions == ["cost": 60101, "maximumCost": 50000])
    }

    @Test("fragments that multiply at every level are counted at once")
    func multiplied() throws {
        var document = "{ one { ...F0 } }"
        for level in 0..<8 {
            document += " fragment F\(level) on Topic { related { ...F\(level + 1) } }"
        }
        document += " fragment F8 on Topic { id }"
        #expect(try #require(try cost(document)) >= 1 << 40)
    }
}
