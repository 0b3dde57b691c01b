import GraphQL
import Testing

@Suite("Schema")
struct SchemaTests {
    @Test("extensions join their types, from several texts, and everything prints with its directives")
    func printing() throws {
        let schema = try Schema(
            sdl: """
                "What it is." type Query @own(name: "x") { "A field." a(n: Int! = 3 @own(name: "n")): String @deprecated }
                enum E { A B @deprecated(reason: "old") }
                directive @own(name: String!) repeatable on OBJECT | ARGUMENT_DEFINITION | SCALAR
                """,
            """
            extend type Query implements Node @own(name: "y") { id: ID! e: E }
            interface Node { id: ID! }
            extend enum E { C }
            scalar Date @specifiedBy(url: "https://example.com/date") @own(name: "d")
            union U = Query
            input I @oneOf { a: Int b: [I!] }
            extend schema @own2
            directive @own2 on SCHEMA
            """
        )
        try expectGolden(schema.printed(), "extended.graphql")
        #expect(try Schema(sdl: schema.printed()).printed() == schema.printed())
        let query = try #require(schema.type(named: "Query"))
        #expect(query.directives.map { $0.argument("name")?.stringValue } == ["x", "y"])
        #expect(query.field(named: "a")?.deprecationReason == "No longer supported")
        #expect(query.field(named: "a")?.argument(named: "n")?.directives.first?.name == "own")
        #expect(schema.type(named: "E")?.enumValues.map(\.name) == ["A", "B", "C"])
        #expect(schema.type(named: "Date")?.specifiedByURL == "https://example.com/date")
        #expect(schema.type(named: "I")?.isOneOf == true)
        #expect(schema.type(named: "Node").map(schema.possibleTypes)?.map(\.name) == ["Query"])
    }

    @Test(
        "a schema that breaks a rule is refused, with every reason",
        arguments: [
            ("type A { a: Int }", ["Query root type must be provided."]),
            ("type Query { a: Nope b(c: Nada): Int }", ["Unknown type \"Nope\".", "Unknown type \"Nada\"."]),
            (
                "type Query { a: Int a: Int } type Query { b: Int }",
                ["Field \"Query.a\" can only be defined once.", "There can be only one type named \"Query\"."]
            ),
            ("type Query { a: Int a: Int }", ["Field \"Query.a\" can only be defined once."]),
            ("type Query", ["Type Query must define one or more fields."]),
            (
                "type Query { __a: Int }",
                ["Name \"__a\" must not begin with \"__\", which is reserved by GraphQL introspection."]
            ),
            ("type Query { a: I } input I { a: Int }", ["The type of Query.a must be Output Type but got: I."]),
            ("type Query { a(q: Query): Int }", ["The type of Query.a(q:) must be Input Type but got: Query."]),
            (
                "type Query { a: Int } extend type Nope { a: Int }",
                ["Cannot extend type \"Nope\" because it is not defined."]
            ),
            (
                "type Query { a: Int } extend enum Query { A }",
                ["Cannot extend non-enum type \"Query\"."]
            ),
            ("type Query { a: Int @nope }", ["Unknown directive \"@nope\"."]),
            (
                "type Query { a: Int @deprecated @deprecated }",
                ["The directive \"@deprecated\" can only be used once at this location."]
            ),
            (
                "type Query { a: Int @oneOf } enum E { A @skip(if: true) }",
                [
                    "Directive \"@oneOf\" may not be used on FIELD_DEFINITION.",
                    "Directive \"@skip\" may not be used on ENUM_VALUE.",
                ]
            ),
            (
                "type Query { a: Int @deprecated(reason: \"x\", reason: 1) }",
                [
                    "There can be only one argument named \"reason\".", "Argument \"reason\" has invalid value 1.",
                ]
            ),
            (
                "type Query { a: Int } type __A { b: Int }",
                ["Name \"__A\" must not begin with \"__\", which is reserved by GraphQL introspection."]
            ),
            (
                "type Query { a: Int } input I { b: Int! @deprecated }",
                ["Required input field I.b cannot be deprecated."]
            ),
            ("type Query { a: Int @deprecated(why: 1) }", ["Unknown argument \"why\" on directive \"@deprecated\"."]),
            (
                "type Query { a: U } union U = Int",
                ["Union type U can only include Object types, it cannot include Int."]
            ),
            ("type Query { a: Int } enum E", ["Enum type E must define one or more values."]),
            (
                "type Query { a: Int } input I { i: I! }",
                ["Cannot reference Input Object \"I\" within itself through a series of non-null fields: \"i\"."]
            ),
            ("type Query { a: Int } input I @oneOf { a: Int! }", ["OneOf input field I.a must be nullable."]),
            (
                "type Query implements N { a: Int } interface N { a: String id(x: Int): ID }",
                [
                    "Interface field N.a expects type String but Query.a is type Int.",
                    "Interface field N.id expected but Query does not provide it.",
                ]
            ),
            ("type Query implements N & M { a: Int } interface N implements M { a: Int } interface M { a: Int }", []),
            (
                "type Query implements N { a: Int } interface N implements M { a: Int } interface M { a: Int }",
                ["Type Query must implement M because it is implemented by N."]
            ),
            ("{ a }", ["A schema cannot hold operations or fragments.", "Query root type must be provided."]),
            ("type Query { a: ", ["Syntax Error: Expected Name, found <EOF>."]),
            ("schema { query: E } enum E { A }", ["Query root type must be Object type, it cannot be E."]),
        ] as [(String, [String])]
    )
    func errors(sdl: String, expected: [String]) {
        do throws(SchemaErrors) {
            _ = try Schema(sdl: sdl)
            #expect(expected.isEmpty)
        } catch {
            #expect(error.errors.map(\.message) == expected)
        }
    }
}
