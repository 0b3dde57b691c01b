import GraphQL
import Testing

/// Expects these errors of a schema, each as its message and, in brackets, its lines and columns.
private func expectErrors(
    _ expected: [String],
    in sdl: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    do throws(SchemaErrors) {
        _ = try Schema(sdl: sdl)
        #expect(expected == [], sourceLocation: sourceLocation)
    } catch {
        let found = error.errors.map { error in
            let locations = error.locations.map { "\($0.line):\($0.column)" }.joined(separator: ", ")
            return locations.isEmpty ? error.message : "\(error.message) (\(locations))"
        }
        #expect(found == expected, sourceLocation: sourceLocation)
    }
}

/// What stands beside the definitions a test is about.
private let query = "type Query { a: Int }\n"

@Suite("Rules of types")
struct TypeRulesTests {
    @Test(
        "what is defined twice is told with both locations",
        arguments: [
            ("enum E { A B A }", [#"Enum value "E.A" can only be defined once. (2:10, 2:14)"#]),
            ("enum E { A } extend enum E { A }", [#"Enum value "E.A" can only be defined once. (2:10, 2:30)"#]),
            ("extend type Query { a: Int }", [#"Field "Query.a" can only be defined once. (1:14, 2:21)"#]),
            (
                "type A { b(c: Int c: Int c: Int): Int }",
                [#"Argument "A.b(c:)" can only be defined once. (2:12, 2:19, 2:26)"#]
            ),
            (
                "directive @d(a: Int) on FIELD directive @d on FIELD",
                [#"There can be only one directive named "@d". (2:1, 2:31)"#]
            ),
            (
                "scalar S @specifiedBy(url: \"a\") extend scalar S @specifiedBy(url: \"b\")",
                [#"The directive "@specifiedBy" can only be used once at this location. (2:10, 2:49)"#]
            ),
            (
                "input I { a: J = {b: 1, b: 2} } input J { b: Int }",
                [#"There can be only one input field named "b". (2:19, 2:25)"#]
            ),
            (
                "schema { query: Query query: Query } schema { query: Query }",
                [
                    "There can be only one query type in schema. (2:10, 2:23)",
                    "Must provide only one schema definition. (2:38)",
                    "There can be only one query type in schema. (2:10, 2:47)",
                ]
            ),
        ]
    )
    func duplicates(sdl: String, errors: [String]) {
        expectErrors(errors, in: query + sdl)
    }

    @Test(
        "what does not exist is told with what may have been meant",
        arguments: [
            ("type A { b: Quer }", [#"Unknown type "Quer". Did you mean "Query"? (2:10)"#]),
            (
                "type A implements Nope { b: Strin }",
                [
                    #"Unknown type "Nope". (2:1)"#, #"Unknown type "Strin". Did you mean "String"? (2:26)"#,
                ]
            ),
            (
                "extend type Qery { b: Int }",
                [
                    #"Cannot extend type "Qery" because it is not defined. Did you mean "Query"? (2:1)"#
                ]
            ),
            (
                "extend input Query { b: Int }",
                [
                    #"Cannot extend non-input object type "Query". (1:1, 2:1)"#
                ]
            ),
            (
                "extend scalar Int @specifiedBy(url: \"x\")",
                [
                    #"Cannot extend type "Int" because it is not defined. (2:1)"#
                ]
            ),
            (
                "scalar S @specifiedBy(urll: \"x\")",
                [
                    #"Unknown argument "urll" on directive "@specifiedBy". Did you mean "url"? (2:23)"#,
                    #"Directive "@specifiedBy" argument "url" of type "String!" is required, but it was not provided. (2:10)"#,
                ]
            ),
        ]
    )
    func unknown(sdl: String, errors: [String]) {
        expectErrors(errors, in: query + sdl)
    }

    @Test(
        "default values and the values of directives fit their types",
        arguments: [
            (
                "input I { a: Int = 1 b: [Int!] = 1 c: E = A d: S = {any: [thing]} e: J = {a: 1} } enum E { A } scalar S input J { a: Int! b: Int! = 2 }",
                []
            ),
            (
                "type A { b(c: Int = \"x\"): Int }",
                [#"The default value of A.b(c:) must be of type Int but got: "x". (2:12)"#]
            ),
            (
                "input I { a: [Int!] = [null] }",
                ["The default value of I.a must be of type [Int!] but got: [null]. (2:11)"]
            ),
            ("input I { a: E! = B } enum E { A }", ["The default value of I.a must be of type E! but got: B. (2:11)"]),
            (
                "input I { a: J = {} } input J { b: Int! }",
                ["The default value of I.a must be of type J but got: {}. (2:11)"]
            ),
            (
                "input I { a: J = {b: 1, c: 2} } input J @oneOf { b: Int c: Int }",
                [
                    "The default value of I.a must be of type J but got: {b: 1, c: 2}. (2:11)"
                ]
            ),
            (
                "directive @d(a: Int! = null) on FIELD",
                ["The default value of @d(a:) must be of type Int! but got: null. (2:14)"]
            ),
            (
                "directive @d(a: Int) on OBJECT type A @d(a: \"x\") { b: Int }",
                [#"Argument "a" has invalid value "x". (2:45)"#]
            ),
        ] as [(String, [String])]
    )
    func values(sdl: String, errors: [String]) {
        expectErrors(errors, in: query + sdl)
    }

    @Test(
        "nothing needs or contains itself",
        arguments: [
            ("input I { a: J! } input J { b: [I!]! c: K! } input K { d: I }", []),
            (
                "input I { a: J! } input J { b: I! }",
                [
                    #"Cannot reference Input Object "I" within itself through a series of non-null fields: "a.b". (2:29)"#
                ]
            ),
            ("input I { a: J = {} } input J { b: I = {a: {b: null}} }", []),
            ("input I { a: I = {} }", ["The default value of I.a contains itself, through I.a. (2:11)"]),
            (
                "input I { a: J = {} } input J { b: [I] = [{}] }",
                [
                    "The default value of I.a contains itself, through I.a, J.b. (2:11)"
                ]
            ),
            (
                "directive @d(a: Int @d) on ARGUMENT_DEFINITION",
                [
                    "Directive @d must not reference itself, as it does through @d. (2:1)"
                ]
            ),
            (
                "directive @d(a: I) on INPUT_FIELD_DEFINITION input I { b: Int @d }",
                [
                    "Directive @d must not reference itself, as it does through I, @d. (2:1)"
                ]
            ),
            (
                "directive @d(a: J) on INPUT_FIELD_DEFINITION input I { j: J d: Int @d } input J { i: I }",
                [
                    "Directive @d must not reference itself, as it does through J, I, @d. (2:1)"
                ]
            ),
            (
                "directive @d(a: Int @e) on ARGUMENT_DEFINITION directive @e(a: Int @d) on ARGUMENT_DEFINITION",
                [
                    "Directive @d must not reference itself, as it does through @e, @d. (2:1)"
                ]
            ),
            ("directive @d(a: I @e) on SCALAR directive @e on ARGUMENT_DEFINITION input I { b: Int i: I }", []),
            (
                "interface I implements J { a: Int } interface J implements I { a: Int }",
                [
                    "Type I cannot implement J because it would create a circular reference. (2:1)",
                    "Type J cannot implement I because it would create a circular reference. (2:37)",
                ]
            ),
        ] as [(String, [String])]
    )
    func cycles(sdl: String, errors: [String]) {
        expectErrors(errors, in: query + sdl)
    }

    @Test(
        "what the edition of September 2025 added is kept",
        arguments: [
            (
                "interface I { a: Int } type A implements I { a: Int @deprecated }",
                [
                    "Interface field I.a is not deprecated, so implementation field A.a must not be deprecated. (2:46)"
                ]
            ),
            (
                "input I { a: Int } extend input I @oneOf",
                [
                    "The @oneOf directive must not be provided by an extension of I. (2:35)"
                ]
            ),
            (
                "input I @oneOf { a: Int } extend input I { b: Int! c: Int = 1 }",
                [
                    "OneOf input field I.b must be nullable. (2:44)",
                    "OneOf input field I.c cannot have a default value. (2:52)",
                ]
            ),
            (
                "type A { b(c: Int! @deprecated): Int } input I { d: Int! @deprecated e: Int! = 1 @deprecated }",
                [
                    "Required argument A.b(c:) cannot be deprecated. (2:12)",
                    "Required input field I.d cannot be deprecated. (2:50)",
                ]
            ),
            (
                "schema { query: Query mutation: Query }",
                [
                    #"All root types must be different, "Query" type is used as query and mutation root types. (2:10, 2:23)"#
                ]
            ),
        ]
    )
    func edition(sdl: String, errors: [String]) {
        expectErrors(errors, in: query + sdl)
    }

    @Test("a schema whose types hide behind conventional names prints the definition that says so")
    func rootTypes() throws {
        let sdl = "schema {\n  query: Query\n}\n\ntype Query {\n  a: Mutation\n}\n\ntype Mutation {\n  b: Int\n}\n"
        #expect(try Schema(sdl: sdl).printed() == sdl)
    }

    @Test("built-in scalars that nothing uses are no part of a schema")
    func unusedScalars() throws {
        let schema = try Schema(sdl: "type Query { a(b: ID): String }")
        #expect(
            ["String", "Boolean", "ID", "Int", "Float"].map { schema.type(named: $0) != nil } == [
                true, true, true, false, false,
            ]
        )
    }

    @Test("chains of input objects without end are refused, not followed")
    func depth() {
        let count = 5000
        let types = (0..<count).map { "input I\($0) { a: I\($0 + 1)! b: I\($0 + 1) = {a: {}} }" }
        let sdl = query + types.joined(separator: "\n") + "input I\(count) { a: Int }"
        #expect(throws: SchemaErrors.self) { try Schema(sdl: sdl) }
    }

    @Test("a long chain of directives is followed to its end", .timeLimit(.minutes(5)))
    func chain() throws {
        let directives = (0..<5000).map { "directive @d\($0)(a: Int @d\($0 + 1)) on ARGUMENT_DEFINITION" }
        let sdl = query + directives.joined(separator: " ") + " directive @d5000 on ARGUMENT_DEFINITION"
        #expect(throws: Never.self) { try Schema(sdl: sdl) }
    }
}
