import GraphQL
import JSON
import Testing

private let schema = Result {
    try Schema(
        sdl: """
            type Query { topics(limit: Int, first: Int): Page! all: [Topic!]! one: Topic any(first: Int = 30): [Any] }
            type Page { items: [Topic]! nextToken: String }
            type Topic { id: ID! name: String topics(limit: Int): Page related(first: Int): [Topic] grid: [[Topic]] }
            type Message { id: ID! title: String body: String }
            union Any = Topic | Message
            """
    )
}

@Suite("Variable cost")
struct VariableCostTests {
    private func cache(maximumCost: Int = 0) throws -> PlanCache {
        var limits = ValidationLimits.standard
        limits.maximumCost = maximumCost
        return PlanCache(schema: try schema.get(), validationLimits: limits)
    }

    /// The cost of an operation that static validation lets pass.
    private func cost(_ document: String, _ variables: JSONObject) throws -> Int? {
        // What each of these costs at most lies above 450, and with default pages below it.
        try cache(maximumCost: 450).plan(text: document).variableCost?.cost(variables: variables)
    }

    @Test(
        "a page counts as large as its variable says",
        arguments: [
            ("query ($n: Int) { topics(limit: $n) { items { id } } }", ["n": 20], 22),
            ("query ($n: Int) { topics(limit: $n) { items { id name } nextToken } }", ["n": 20], 43),
            ("query ($n: Int) { topics(limit: $n) { items { id } } }", [:], 102),
            ("query ($n: Int) { topics(limit: $n) { items { id } } }", ["n": nil], 102),
            ("query ($n: Int = 7) { topics(limit: $n) { items { id } } }", [:], 9),
            ("query ($n: Int = 7) { topics(limit: $n) { items { id } } }", ["n": 300], 302),
            ("query ($n: Int) { topics(limit: $n) { items { id } } }", ["n": 5000], 1002),
            ("query ($n: Int) { topics(limit: $n) { items { id } } }", ["n": -5000], 3),
            ("query ($n: Int) { topics(limit: $n) { items { id } } }", ["n": 20.0], 22),
            ("query ($n: Int) { topics(limit: $n) { items { id } } }", ["n": "20"], 102),
            ("query ($n: Int) { any(first: $n) { ...on Topic { id } ...on Message { id title body } } }", ["n": 9], 28),
            ("query ($n: Int) { any(first: $n) { ...on Topic { id } ...on Message { id title body } } }", [:], 91),
            ("query ($n: Int) { one { topics(limit: $n) { items { related(first: 2) { id } } } } }", ["n": 10], 33),
            ("query ($n: Int) { one { id ...F ...F } } fragment F on Topic { related(first: $n) { id } }", ["n": 5], 8),
        ] as [(String, JSONObject, Int)]
    )
    func costs(document: String, variables: JSONObject, expected: Int) throws {
        #expect(try cost(document, variables) == expected)
    }

    @Test(
        "a size costs the same from a variable as written in the document",
        arguments: [
            "{ topics(limit: $n) { items { id name } nextToken } }",
            "{ topics(limit: $n) { items { related(first: $n) { id } topics { items { id } } } } }",
            "{ a: topics(limit: $n) { ...P } b: topics(first: $n) { ...P } } fragment P on Page { items { id } }",
            "{ one { related(first: $n) { grid { id } topics(limit: 2) { nextToken } } } }",
            "{ one { topics(limit: $n) { items { grid { id name } } } } __schema { types { name } } }",
            "{ any { ...on Topic { related(first: $n) { id } } } }",
        ]
    )
    func equal(document: String) throws {
        for size in [1, 7, 100, 1000, 2000] {
            var limits = ValidationLimits.standard
            limits.maximumCost = 0
            let written = document.replacing("$n", with: "\(size)")
            let stated = validate(try parse(written), against: try schema.get(), limits: limits)
            limits.maximumCost = 1
            let tree = try parse("query ($n: Int) " + document)
            let plan = try ExecutionPlan.make(document: tree, schema: try schema.get(), limits: limits)
            let cost = plan.variableCost?.cost(variables: ["n": .int(Int64(size))])
            #expect(try stated.first?.extensions["cost"]?.intValue == Int64(#require(cost)))
        }
    }

    @Test(
        "an operation that no variable can make too expensive is not measured",
        arguments: ["{ topics(limit: 5) { items { id } } }", "query ($n: Int) { topics(limit: $n) { items { id } } }"]
    )
    func unmeasured(document: String) throws {
        #expect(try cache(maximumCost: 1002).plan(text: document).variableCost == nil)
    }

    @Test("variables that make an operation cost too much are refused, saying how much and what to do")
    func refused() throws {
        let document = "query ($n: Int, $m: Int) { topics(limit: $n) { items { related(first: $m) { id name } } } }"
        let plan = try cache(maximumCost: 50_000).plan(text: document)
        try plan.variableCost?.check(variables: ["n": 100, "m": 100])
        let error = #expect(throws: RequestErrors.self) {
            try plan.variableCost?.check(variables: ["n": 1000, "m": 100])
        }
        #expect(error?.errors.first?.extensions == ["cost": 201_002, "maximumCost": 50_000])
        #expect(
            error?.errors.first?.message
                == "With these variables the operation costs 201002; at most 50000 are allowed. "
                + "Ask for fewer fields, or for smaller pages."
        )
    }

    @Test("pages that multiply at every level neither overflow nor take long", .timeLimit(.minutes(5)))
    func multiplied() throws {
        var document = "query ($n: Int) { one { ...F0 } }"
        for level in 0..<18 {
            document += " fragment F\(level) on Topic { a: related(first: $n) { ...F\(level + 1) }"
            document += " b: related(first: $n) { ...F\(level + 1) } }"
        }
        document += " fragment F18 on Topic { id }"
        var limits = ValidationLimits.specification
        limits.maximumCost = 1 << 39
        limits.maximumFields = .max
        limits.defaultPageSize = 1
        let tree = try parse(document, limits: .unlimited)
        let plan = try ExecutionPlan.make(document: tree, schema: try schema.get(), limits: limits)
        let cost = try #require(plan.variableCost)
        #expect(cost.cost(variables: ["n": 1000]) == 1 << 40)
        #expect(cost.cost(variables: ["n": 1]) < 1 << 21)
    }
}
