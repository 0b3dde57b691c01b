import GraphQL
import Testing

@Suite("OperationSize rule")
struct OperationSizeRuleTests {
    @Test("depth counts through fragments")
    func depth() throws {
        let document =
            "{ human { ...A } } fragment A on Human { relatives { ...B } } fragment B on Human { relatives { id } }"
        try expectErrors([], in: document, limits: ValidationLimits(maximumDepth: 4))
        try expectErrors(
            ["Fields nest 4 levels deep; at most 3 are allowed. (1:1)"],
            in: document,
            limits: ValidationLimits(maximumDepth: 3)
        )
    }

    @Test("introspection has a depth of its own")
    func introspection() throws {
        var limits = ValidationLimits(maximumDepth: 2)
        try expectErrors([], in: "{ __schema { types { fields { name } } } }", limits: limits)
        limits.maximumIntrospectionDepth = 3
        try expectErrors(
            ["Fields of introspection nest 4 levels deep; at most 3 are allowed. (1:1)"],
            in: "{ ...F } fragment F on Query { __schema { types { fields { name } } } }",
            limits: limits
        )
    }

    @Test("fragments that double at every level are refused at once, however many ways lead through them")
    func doubling() throws {
        var document = "{ human { ...F0 } }"
        for level in 0..<20 {
            document +=
                " fragment F\(level) on Human { a: relatives { ...F\(level + 1) } b: relatives { ...F\(level + 1) } }"
        }
        document += " fragment F20 on Human { id }"
        var limits = ValidationLimits.specification
        limits.maximumFields = 10_000
        try expectErrors(
            ["The operation has more than 10000 fields, fragments unfolded. (1:1)"],
            in: document,
            limits: limits
        )
    }

    @Test("a document with a thousand fields of one name is checked in no time")
    func manyEqualFields() throws {
        try expectValid("{ dog { " + String(repeating: "name ", count: 3000) + "} }")
        let fields = (0..<500).map { "x\($0): mother { name at(x: 1) }" }.joined(separator: " ")
        try expectValid("{ dog { \(fields) \(fields) ...F } } fragment F on Dog { \(fields) }")
    }

    @Test("fragments that lead ever deeper without a field are refused without using up the stack")
    func nesting() throws {
        let inner = (String(repeating: "... { ", count: 180), String(repeating: "} ", count: 180))
        let chain = (0..<400).map { "fragment F\($0) on Query { \(inner.0) ...F\($0 + 1) \(inner.1) }" }
        try expectErrors(
            ["Selections nest more than 1000 levels deep, fragments unfolded. (1:1)"],
            in: "{ ...F0 } " + chain.joined(separator: " ") + " fragment F400 on Query { __typename }"
        )
    }

    @Test("no more errors are told than allowed")
    func maximumErrors() throws {
        try expectErrors(
            [
                #"Cannot query field "a" on type "Query". (1:3)"#, #"Cannot query field "b" on type "Query". (1:5)"#,
                "Too many validation errors, error limit reached. Validation aborted.",
            ],
            in: "{ a b c d }",
            limits: ValidationLimits(maximumErrors: 2)
        )
    }
}
