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
        let place = try #require(first.locations.first)
        #expect("\(first.message) (\(place.line):\(place.column))" == error)
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

    @Test("nothing is suggested to callers who may not see the schema")
    func off() throws {
        try expectErrors([#"Cannot query field "NAME" on type "Dog". (1:9)"#], in: "{ dog { NAME } }", suggests: false)
    }
}
