import GraphQL
import Testing

@Suite("Suggestions")
struct SuggestionsTests {
    @Test(
        "messages about unknown names end in similar names",
        arguments: [
            ("query ($x: Intt) { dog { knows(word: $x) } }", #"Unknown type "Intt". Did you mean "Int"? (1:12)"#),
            ("{ dog { ... on Humn { name } } }", #"Unknown type "Humn". Did you mean "Human"? (1:16)"#),
            ("{ dog { ... on Zebra { name } } }", #"Unknown type "Zebra". (1:16)"#),
            ("{ dog { NAME } }", #"Cannot query field "NAME" on type "Dog". Did you mean "name"? (1:9)"#),
            ("{ dog { meows } }", #"Cannot query field "meows" on type "Dog". Did you mean "knows"? (1:9)"#),
            (
                "{ dog { abrk } }",
                #"Cannot query field "abrk" on type "Dog". Did you mean "bark" or "barks"? (1:9)"#
            ),
            (
                "{ human { relatives { namee } } dog { name(surnam: true) } }",
                #"Cannot query field "namee" on type "Human". Did you mean "name"? (1:23)"#
            ),
            (
                "{ dog { name(surnam: true) } }",
                #"Unknown argument "surnam" on field "Dog.name". Did you mean "surname"? (1:14)"#
            ),
            (
                "{ dog { name @skip(if: true, iff: false) } }",
                #"Unknown argument "iff" on directive "@skip". Did you mean "if"? (1:30)"#
            ),
            (
                "{ field(color: REDD) }",
                #"Value "REDD" does not exist in "Color" enum. Did you mean the enum value "RED"? (1:16)"#
            ),
            (
                #"{ field(color: "RED") }"#,
                #"Enum "Color" cannot represent non-enum value: "RED". Did you mean the enum value "RED" or "GREEN"? (1:16)"#
            ),
            (
                "{ complicated(in: { required: true, innt: 1 }) }",
                #"Field "innt" is not defined by type "Complex". Did you mean "int"? (1:37)"#
            ),
        ]
    )
    func similar(document: String, error: String) throws {
        let errors = try validate(parse(document), against: Schema(sdl: petSchema))
        let first = try #require(errors.first)
        let location = try #require(first.locations.first)
        #expect("\(first.message) (\(location.line):\(location.column))" == error)
    }

    @Test(
        "a field that abstract types lack is looked for in their possible types, the most common first",
        arguments: [
            (
                "{ pet { barks } }",
                [#"Cannot query field "barks" on type "Pet". Did you mean to use an inline fragment on "Dog"? (1:9)"#]
            ),
            (
                "{ either { name } }",
                [
                    #"Cannot query field "name" on type "CatOrDog". Did you mean to use an inline fragment on "Pet", "Canine", "Cat", or "Dog"? (1:12)"#
                ]
            ),
            ("{ pet { namme } }", [#"Cannot query field "namme" on type "Pet". Did you mean "name"? (1:9)"#]),
        ]
    )
    func types(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document, suggests: true)
    }

    @Test("at most five names are suggested, equally near ones in natural order")
    func order() throws {
        let schema = try Schema(sdl: "type Query { a10: Int a2: Int a1: Int a01: Int b: Int c: Int d: Int }")
        let messages = validate(try parse("{ a }"), against: schema).map(\.message)
        #expect(
            messages == [#"Cannot query field "a" on type "Query". Did you mean "a1", "a2", "b", "c", or "d"?"#]
        )
    }

    @Test("of very many mistakes in a type system the first hundred come with suggestions")
    func typeSystem() throws {
        let fields = (0..<150).map { "f\($0): Strin" }.joined(separator: " ")
        let refusal = #expect(throws: SchemaErrors.self) { try Schema(sdl: "type Query { \(fields) }") }
        let errors = try #require(refusal?.errors)
        #expect(errors.count == 150)
        #expect(errors.filter { $0.message.hasSuffix(#"Did you mean "String"?"#) }.count == 100)
    }

    @Test("nothing is suggested to callers who may not see the schema")
    func off() throws {
        try expectErrors([#"Cannot query field "NAME" on type "Dog". (1:9)"#], in: "{ dog { NAME } }", suggests: false)
    }

    @Test("a cache of plans and an execution keep names to themselves when told to")
    func switches() async throws {
        let schema = try Schema(sdl: "type Query { field(in: In): String } input In { width: Int }")
        let quiet = PlanCache(schema: schema, suggests: false)
        let refusal = #expect(throws: RequestErrors.self) { try quiet.plan(text: "{ fields }") }
        #expect(refusal?.errors.first?.message == #"Cannot query field "fields" on type "Query"."#)
        var resolvers = ResolverMap<Void, Void>()
        resolvers.leaf("Query.field") { _, out in out.string("x") }
        let service = try ExecutableSchema(schema: schema, resolvers: resolvers)
        let plan = try quiet.plan(text: "query ($in: In) { field(in: $in) }")
        for suggests in [true, false] {
            var options = ExecutionOptions()
            options.suggests = suggests
            let variables: JSONObject = ["in": ["widths": 1]]
            let result = await service.execute(plan, variables: variables, root: (), context: (), options: options)
            let message = try #require(result.errors.first?.message)
            #expect(message.contains("Did you mean \"width\"?") == suggests, "\(message)")
        }
    }

    @Test("a subscription keeps names to itself when told to", arguments: [true, false])
    func subscriptions(suggests: Bool) async throws {
        let sdl = "type Query { a: Int } type Subscription { field(in: In): String } input In { width: Int }"
        var resolvers = ResolverMap<Int, Int>()
        resolvers.leaf("Query.a") { _, out in out.null() }
        let service = try ExecutableSchema(schema: Schema(sdl: sdl), resolvers: resolvers)
        let plan = try PlanCache(schema: service.schema).plan(text: "subscription ($in: In) { field(in: $in) }")
        let variables: JSONObject = ["in": ["widths": 1]]
        var options = ExecutionOptions()
        options.suggests = suggests
        let refusals = [
            #expect(throws: RequestErrors.self) {
                try service.subscription(plan, variables: variables, options: options)
            },
            await #expect(throws: RequestErrors.self) {
                try await service.subscribe(plan, variables: variables, root: 0, context: 0, options: options)
            },
        ]
        for refusal in refusals {
            let message = try #require(refusal?.errors.first?.message)
            #expect(message.contains("Did you mean \"width\"?") == suggests, "\(message)")
        }
    }
}
