import GraphQL
import JSON
import Testing

@Suite("Variables")
struct VariableCoercionTests {
    private static let sdl = """
        type Query { echo(int: Int, float: Float, string: String, id: ID, flag: Boolean, e: E, list: [[Int!]], in: In, one: One,
            even: Even): String }
        enum E { A B }
        input In { a: Int! = 4, b: [String], c: In, d: E! }
        input One @oneOf { x: Int y: String }
        scalar Even
        """

    private static func service() throws -> JSONService {
        try JSONService(sdl) { resolvers in
            resolvers.value("Query.echo") { _, field in
                .leaf(.string(JSONValue.object(field.arguments.object).serializedString()))
            }
            resolvers.coerce(scalar: "Even") { (value) throws(CoercionError) in
                guard let number = value.intValue, number % 2 == 0 else {
                    throw CoercionError("Even cannot represent \(value.serializedString())")
                }
                return .int(number / 2)
            }
        }
    }

    @Test(
        "values that fit are taken, converted as the type says",
        arguments: [
            ("int", "Int", 3.0, 3), ("int", "Int", nil, nil), ("float", "Float", 3, 3.0), ("id", "ID", 12, "12"),
            ("id", "ID", "x", "x"), ("flag", "Boolean", true, true), ("e", "E", "A", "A"),
            ("list", "[[Int!]]", 1, [[1]]), ("list", "[[Int!]]", [[1, 2], nil], [[1, 2], nil]),
            ("list", "[[Int!]]", [1, 2], [[1], [2]]), ("even", "Even", 8, 4),
            ("in", "In", ["d": "B", "b": "x"], ["a": 4, "b": ["x"], "d": "B"]),
            ("in", "In", ["c": ["d": "A", "a": 1], "d": "B"], ["a": 4, "c": ["a": 1, "d": "A"], "d": "B"]),
            ("one", "One", ["y": "z"], ["y": "z"]),
        ] as [(String, String, JSONValue, JSONValue)]
    )
    func accepted(argument: String, type: String, value: JSONValue, expected: JSONValue) async throws {
        let response = try await Self.service().run(
            "query ($v: \(type)) { echo(\(argument): $v) }",
            variables: ["v": value]
        )
        let echo = try JSONParser.parse(try JSONParser.parse(response)["data"]?["echo"]?.stringValue ?? "")
        #expect(echo == [argument: expected].json)
    }

    @Test(
        "values that do not fit are refused, each with its path",
        arguments: [
            ("Int", 1.5, ["1.5; Int cannot represent non-integer value: 1.5"]),
            ("Int", 2_147_483_648, ["2147483648; Int cannot represent non 32-bit signed integer value: 2147483648"]),
            ("Float", "1", [#""1"; Float cannot represent non numeric value: "1""#]),
            ("String", 1, ["1; String cannot represent a non string value: 1"]),
            ("Boolean", "true", [#""true"; Boolean cannot represent a non boolean value: "true""#]),
            ("ID", 1.5, ["1.5; ID cannot represent value: 1.5"]),
            ("E", "C", [#""C"; Value "C" does not exist in "E" enum. Did you mean the enum value "A" or "B"?"#]),
            (
                "E", 1,
                [#"1; Enum "E" cannot represent non-string value: 1. Did you mean the enum value "A" or "B"?"#]
            ),
            (
                "[[Int!]]", [[1, nil], "x"],
                [
                    #"null at "v[0][1]"; Expected non-nullable type "Int!" not to be null."#,
                    #""x" at "v[1]"; Int cannot represent non-integer value: "x""#,
                ]
            ),
            (
                "In", ["a": nil, "z": 1],
                [
                    #"null at "v.a"; Expected non-nullable type "Int!" not to be null."#,
                    #"{"a":null,"z":1}; Field "d" of required type "E!" was not provided."#,
                    #"{"a":null,"z":1}; Field "z" is not defined by type "In". Did you mean "a", "b", "c", or "d"?"#,
                ]
            ),
            ("In", 1, [#"1; Expected type "In" to be an object."#]),
            (
                "One", ["x": 1, "y": "z"],
                [#"{"x":1,"y":"z"}; Exactly one key must be specified for OneOf type "One"."#]
            ),
            (
                "One", ["z": 1],
                [
                    #"{"z":1}; Field "z" is not defined by type "One". Did you mean "x" or "y"?"#,
                    #"{"z":1}; Exactly one key must be specified for OneOf type "One"."#,
                ]
            ),
            ("One", ["x": nil], [#"null at "v.x"; Field "x" must be non-null."#]),
            ("Even", 3, ["3; Even cannot represent 3"]),
        ] as [(String, JSONValue, [String])]
    )
    func refused(type: String, value: JSONValue, expected: [String]) async throws {
        let names = [
            "Int": "int", "Float": "float", "String": "string", "Boolean": "flag", "ID": "id", "E": "e",
            "[[Int!]]": "list",
        ]
        let argument = names[type] ?? type.lowercased()
        let response = try await Self.service().run(
            "query ($v: \(type)) { echo(\(argument): $v) }",
            variables: ["v": value]
        )
        let errors = try JSONParser.parse(response)["errors"]?.arrayValue ?? []
        #expect(errors.map { $0["message"]?.stringValue } == expected.map { "Variable \"$v\" got invalid value \($0)" })
        #expect(try JSONParser.parse(response)["data"] == nil)
    }

    @Test("literals of a custom scalar are checked like variables")
    func customLiterals() async throws {
        let service = try Self.service()
        #expect(try await service.run("{ echo(even: 4) }") == #"{"data":{"echo":"{\"even\":2}"}}"#)
        let errors = validate(try parse("{ echo(even: 3) }"), against: service.executable.schema)
        #expect(errors.map(\.message) == ["Even cannot represent 3"])
    }
}

extension [String: JSONValue] {
    fileprivate var json: JSONValue { .object(JSONObject(map { ($0.key, $0.value) })) }
}
