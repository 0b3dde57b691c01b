import GraphQL
import Testing

@Suite("RootFields rule")
struct RootFieldsRuleTests {
    /// Two fields of the root are allowed, and anything else.
    private static let two = {
        var limits = ValidationLimits.specification
        limits.maximumRootFields = 2
        return limits
    }()

    @Test(
        "as many fields of the root as allowed are fine",
        arguments: [
            "{ a: field b: field }",
            "{ field field field }",
            "{ ...F ...F a: field } fragment F on Query { a: field b: field }",
            "query A { a: field b: field } query B { c: field d: field }",
            "{ dog { a: name b: name c: name } }",
        ]
    )
    func valid(document: String) throws {
        try expectErrors([], in: document, limits: Self.two)
    }

    @Test(
        "more are refused, each operation by itself, fragments unfolded",
        arguments: [
            ("{ a: field b: field c: field }", 3, "1:1"),
            ("{ ...F c: field } fragment F on Query { a: field ... { b: field } }", 3, "1:1"),
            ("query A { field } mutation B { a: feed b: feed c: feed d: feed }", 4, "1:19"),
        ]
    )
    func invalid(document: String, count: Int, location: String) throws {
        try expectErrors(
            ["The operation asks for \(count) fields of the root; at most 2 are allowed. (\(location))"],
            in: document,
            limits: Self.two
        )
    }

    @Test("twenty are allowed unless told otherwise")
    func standard() throws {
        let fields = (0..<21).map { "f\($0): field" }
        try expectErrors([], in: "{ \(fields.dropLast().joined(separator: " ")) }", limits: .standard)
        try expectErrors(
            ["The operation asks for 21 fields of the root; at most 20 are allowed. (1:1)"],
            in: "{ \(fields.joined(separator: " ")) }",
            limits: .standard
        )
    }
}
