import GraphQL
import Testing

@Suite("Schema coordinates")
struct SchemaCoordinateTests {
    @Test(
        "every form reads to its parts and prints as it was written",
        arguments: [
            ("Pet", SchemaCoordinate.type("Pet")), ("Pet.name", .member(type: "Pet", name: "name")),
            ("Query.pet(id:)", .argument(type: "Query", field: "pet", name: "id")), ("@skip", .directive("skip")),
            ("@skip(if:)", .directiveArgument(directive: "skip", name: "if")),
            (
                "__Type.fields(includeDeprecated:)",
                .argument(type: "__Type", field: "fields", name: "includeDeprecated")
            ),
        ]
    )
    func forms(text: String, coordinate: SchemaCoordinate) throws {
        #expect(try SchemaCoordinate(text) == coordinate)
        #expect(coordinate.description == text)
    }

    @Test(
        "anything else is refused with its place",
        arguments: [
            ("", "Expected Name, found <EOF>.", 1), ("9a", "Expected Name, found \"9\".", 1),
            ("Pet.", "Expected Name, found <EOF>.", 5), (" Pet", "Expected Name, found \" \".", 1),
            ("Pet .name", "Expected <EOF>, found \" \".", 4), ("Pet.name.x", "Expected <EOF>, found \".\".", 9),
            ("Pet(id:)", "Expected <EOF>, found \"(\".", 4), ("Pet.name(id)", "Expected \":\", found \")\".", 12),
            ("@skip.if", "Expected <EOF>, found \".\".", 6), ("@skip(if:", "Expected \")\", found <EOF>.", 10),
            ("Pét", "Expected <EOF>, found U+00E9.", 2), ("@", "Expected Name, found <EOF>.", 2),
        ]
    )
    func errors(text: String, message: String, column: Int) {
        let error = #expect(throws: SyntaxError.self) { try SchemaCoordinate(text) }
        #expect(error?.message == "Syntax Error: " + message)
        #expect(error?.locations == [GraphQL.SourceLocation(line: 1, column: column)])
    }

    @Test(
        "a schema finds what a coordinate names",
        arguments: [
            ("Query", "type Query"), ("Query.pet", "field Query.pet"), ("Query.pet(id:)", "argument id of Query.pet"),
            ("Search.text", "input field text of Search"), ("Kind.CAT", "value CAT of Kind"),
            ("@skip", "directive skip"), ("@skip(if:)", "argument if of skip"), ("Nothing", nil),
            ("Query.nothing", nil),
            ("Query.pet(nothing:)", nil), ("Kind.DOG", nil), ("Int.pet", nil), ("@nothing(if:)", nil),
            ("@skip(unless:)", nil), ("Search.text(id:)", nil),
        ] as [(String, String?)]
    )
    func resolution(text: String, expected: String?) throws {
        let schema = try Schema(
            sdl: "type Query { pet(id: ID, search: Search): Kind } enum Kind { CAT } input Search { text: String }"
        )
        #expect(schema.resolve(try SchemaCoordinate(text)).map(describe) == expected)
    }

    private func describe(_ element: Schema.Element) -> String {
        switch element {
        case .type(let type): "type \(type.name)"
        case .field(let field): "field \(field.coordinate)"
        case .argument(let argument, let field): "argument \(argument.name) of \(field.coordinate)"
        case .inputField(let field, let type): "input field \(field.name) of \(type.name)"
        case .enumValue(let value, let type): "value \(value.name) of \(type.name)"
        case .directive(let directive): "directive \(directive.name)"
        case .directiveArgument(let argument, let directive): "argument \(argument.name) of \(directive.name)"
        }
    }
}
