import GraphQL
import JSON
import Testing

@Suite("Execution")
struct ExecutionTests {
    static let sdl = """
        type Query { hero: Character, heroes: [Character!], strict: [Character!]!, grid: [[Int!]], int: Int, ints: [Int!]!,
            text: String, id: ID, flag: Boolean, float: Float, color: Color, echo(text: String = "none", n: Int): String,
            any: Any, search: [Found] }
        type Character { name: String!, nick: String, friends: [Character], best: Character, rival: Character! }
        type Place { title: String! }
        union Found = Character | Place
        enum Color { RED GREEN }
        scalar Any
        """

    @Test("fields come back in the order they were asked for, merged by response name")
    func merging() async throws {
        let service = try JSONService(Self.sdl)
        let root: JSONValue = ["hero": ["name": "Luke", "nick": "L", "best": ["name": "Han"]], "int": 3]
        let response = try await service.run(
            """
            { int hero { ...A name } n: int hero { best { name } nick } }
            fragment A on Character { best { nick } }
            """,
            root: root
        )
        #expect(
            response == #"{"data":{"int":3,"hero":{"best":{"nick":null,"name":"Han"},"name":"Luke","nick":"L"},"n":3}}"#
        )
    }

    @Test(
        "skip and include decide by variables, and order follows what is included",
        arguments: [
            (true, true, #"{"data":{"int":1,"text":"t"}}"#), (true, false, #"{"data":{"text":"t","int":1}}"#),
            (false, true, #"{"data":{"int":1}}"#), (false, false, #"{"data":{"int":1}}"#),
        ]
    )
    func conditions(first: Bool, second: Bool, expected: String) async throws {
        let service = try JSONService(Self.sdl)
        let response = try await service.run(
            """
            query ($a: Boolean!, $b: Boolean!) {
                int @include(if: $b) text @skip(if: $b) @include(if: $a) ...F @include(if: $a)
                int flag @skip(if: true) }
            fragment F on Query { text }
            """,
            root: ["int": 1, "text": "t"],
            variables: ["a": .bool(first), "b": .bool(second)]
        )
        #expect(response == expected)
    }

    @Test("a sub-selection under a condition is left out even where its field is asked for twice")
    func nestedConditions() async throws {
        let service = try JSONService(Self.sdl)
        let document = "query ($a: Boolean!) { hero @include(if: $a) { name } hero { nick } }"
        let root: JSONValue = ["hero": ["name": "Luke", "nick": "L"]]
        #expect(
            try await service.run(document, root: root, variables: ["a": false])
                == #"{"data":{"hero":{"nick":"L"}}}"#
        )
        #expect(
            try await service.run(document, root: root, variables: ["a": true])
                == #"{"data":{"hero":{"name":"Luke","nick":"L"}}}"#
        )
    }

    @Test(
        "a null or an error goes up to the nearest field that takes a null, and is told once with its path",
        arguments: [
            (
                "{ hero { name nick } int }", ["hero": ["nick": "x"], "int": 1],
                #"{"data":{"hero":null,"int":1},"errors":[{"message":"Cannot return null for non-nullable field Character.name.","locations":[{"line":1,"column":10}],"path":["hero","name"]}]}"#
            ),
            (
                "{ heroes { name } }", ["heroes": [["name": "a"], [:], [:]]],
                #"{"data":{"heroes":null},"errors":[{"message":"Cannot return null for non-nullable field Character.name.","locations":[{"line":1,"column":12}],"path":["heroes",1,"name"]}]}"#
            ),
            (
                "{ hero { friends { name } } }", ["hero": ["friends": [["name": "a"], nil, [:]]]],
                #"{"data":{"hero":{"friends":[{"name":"a"},null,null]}},"errors":[{"message":"Cannot return null for non-nullable field Character.name.","locations":[{"line":1,"column":20}],"path":["hero","friends",2,"name"]}]}"#
            ),
            (
                "{ int strict { name } }", ["int": 1, "strict": [nil]],
                #"{"data":null,"errors":[{"message":"Cannot return null for non-nullable field Query.strict.","locations":[{"line":1,"column":7}],"path":["strict",0]}]}"#
            ),
            (
                "{ ints }", ["ints": [1, "x", 2]],
                #"{"data":null,"errors":[{"message":"Int cannot represent non-integer value: \"x\"","locations":[{"line":1,"column":3}],"path":["ints",1]}]}"#
            ),
            (
                "{ grid }", ["grid": [[1], [2, nil], [3]]],
                #"{"data":{"grid":[[1],null,[3]]},"errors":[{"message":"Cannot return null for non-nullable field Query.grid.","locations":[{"line":1,"column":3}],"path":["grid",1,1]}]}"#
            ),
            (
                "{ hero { nick best { rival { rival { name } } } } }",
                ["hero": ["nick": ["__error": "no"], "best": ["rival": ["rival": ["name": ["__error": "deep"]]]]]],
                #"{"data":{"hero":{"nick":null,"best":null}},"errors":[{"message":"no","locations":[{"line":1,"column":10}],"path":["hero","nick"]},{"message":"deep","locations":[{"line":1,"column":38}],"path":["hero","best","rival","rival","name"]}]}"#
            ),
            (
                "{ int hero { name } ints }", ["int": 1, "hero": 5, "ints": 7],
                #"{"data":null,"errors":[{"message":"Query.hero expects an object.","locations":[{"line":1,"column":7}],"path":["hero"]},{"message":"Expected Iterable, but did not find one for field \"Query.ints\".","locations":[{"line":1,"column":21}],"path":["ints"]}]}"#
            ),
        ] as [(String, JSONValue, String)]
    )
    func nulls(document: String, root: JSONValue, expected: String) async throws {
        #expect(try await JSONService(Self.sdl).run(document, root: root) == expected)
    }

    @Test("leaves are written as their types say, or refused")
    func leaves() async throws {
        let service = try JSONService(Self.sdl)
        let root: JSONValue = [
            "int": 2.0, "text": 5, "id": 7, "flag": 1, "float": 3, "color": "RED", "any": ["x": [1, nil]],
        ]
        let text = try await service.run("{ int text id flag float color any }", root: root)
        #expect(
            text
                == #"{"data":{"int":2,"text":"5","id":"7","flag":true,"float":3,"color":"RED","any":{"x":[1,null]}}}"#
        )
        #expect(
            try await service.run("{ int id flag float }", root: ["int": "5", "id": 7.0, "flag": 0.5, "float": "1.5"])
                == #"{"data":{"int":5,"id":"7","flag":true,"float":1.5}}"#
        )
        let response = try await service.run("{ int color }", root: ["int": 2_147_483_648, "color": "BLUE"])
        #expect(response.hasPrefix(#"{"data":{"int":null,"color":null},"errors":["#))
        #expect(response.contains("Int cannot represent non 32-bit signed integer value: 2147483648"))
        #expect(response.contains(#"Enum \"Color\" cannot represent value: \"BLUE\""#))
    }

    @Test("values of abstract types take the fields of their own type")
    func abstractTypes() async throws {
        let service = try JSONService(Self.sdl)
        let found: JSONValue = [
            ["__typename": "Character", "name": "Luke"], ["__typename": "Place", "title": "Hoth"],
            ["__typename": "Query"], ["__typename": "Nowhere"], nil, ["__typename": "Found"],
        ]
        let response = try await service.run(
            "{ search { kind: __typename ... on Character { name } ...P } } fragment P on Place { title }",
            root: ["search": found]
        )
        #expect(
            response.hasPrefix(
                #"{"data":{"search":[{"kind":"Character","name":"Luke"},{"kind":"Place","title":"Hoth"},null,null,null,null]}"#
            )
        )
        #expect(response.contains(#"Abstract type \"Found\" was resolved to a non-object type \"Found\"."#))
        #expect(response.contains(#"Runtime Object type \"Query\" is not a possible type for \"Found\"."#))
        #expect(response.contains(#"Abstract type \"Found\" was resolved to a type \"Nowhere\""#))
    }

    @Test("arguments reach the resolver coerced, with defaults; absent and null differ")
    func arguments() async throws {
        let service = try JSONService(Self.sdl) { resolvers in
            resolvers.value("Query.echo") { (_, field) throws(GraphQLError) in
                .leaf(
                    .string(
                        field.arguments.object.isEmpty
                            ? "" : JSONValue.object(field.arguments.object).serializedString()
                    )
                )
            }
        }
        let response = try await service.run(
            "query ($n: Int, $t: String) { a: echo b: echo(text: null, n: $n) c: echo(text: $t, n: 4) d: echo(text: $t) }",
            variables: ["t": "given"]
        )
        #expect(
            response
                == #"{"data":{"a":"{\"text\":\"none\"}","b":"{\"text\":null}","c":"{\"text\":\"given\",\"n\":4}","d":"{\"text\":\"given\"}"}}"#
        )
    }

    @Test("variables that do not fit are refused before anything runs")
    func variables() async throws {
        let service = try JSONService(Self.sdl)
        let response = try await service.run("query ($n: Int!) { echo(n: $n) }", variables: ["n": "x"])
        #expect(
            response
                == #"{"errors":[{"message":"Variable \"$n\" got invalid value \"x\"; Int cannot represent non-integer value: \"x\"","locations":[{"line":1,"column":8}]}]}"#
        )
    }
}
