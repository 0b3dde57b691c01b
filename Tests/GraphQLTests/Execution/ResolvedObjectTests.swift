import GraphQL
import JSON
import Testing

@Suite("Resolved objects")
struct ResolvedObjectTests {
    private static let sdl = """
        type Query { plain: [Item] strict: [Item!]! nested: [[Item]] one: Item found: [Found] named: Named leaf: Int leaves: [Int] }
        interface Named { name: String }
        type Item implements Named { name: String must: String! items: [Item] found: Found }
        type Other implements Named { name: String size: Int }
        union Found = Item | Other
        """

    private static func item(_ name: JSONValue, _ more: JSONObject = [:]) -> JSONValue {
        .object(JSONObject([("__typename", "Item"), ("name", name)] + more.map { ($0.key, $0.value) }))
    }

    private static func run(
        _ coordinate: String,
        _ value: ResolvedValue<JSONValue>,
        _ document: String
    ) async throws -> String {
        let service = try JSONService(sdl) { resolvers in resolvers.value(coordinate) { _, _ in value } }
        return try await service.run(document)
    }

    @Test("a list of objects given as they are is written like a list of values")
    func objects() async throws {
        let items = [Self.item("a", ["items": [Self.item("x"), Self.item("y")]]), Self.item("b"), Self.item("c")]
        let document = "{ plain { name items { name } } }"
        let expected =
            #"{"data":{"plain":[{"name":"a","items":[{"name":"x"},{"name":"y"}]},{"name":"b","items":null},{"name":"c","items":null}]}}"#
        #expect(try await Self.run("Query.plain", .objects(items), document) == expected)
        #expect(try await Self.run("Query.plain", .list(items.map { .object($0) }), document) == expected)
        #expect(try await Self.run("Query.plain", .objects([]), document) == #"{"data":{"plain":[]}}"#)
        #expect(
            try await Self.run(
                "Query.plain",
                .list([.object(items[1]), .null, .object(items[2])]),
                "{ plain { name } }"
            )
                == #"{"data":{"plain":[{"name":"b"},null,{"name":"c"}]}}"#
        )
    }

    @Test("lists of lists keep their order, whatever way their objects are given")
    func nested() async throws {
        let value: ResolvedValue<JSONValue> = .list([
            .objects([Self.item("a"), Self.item("b")]), .null, .list([.object(Self.item("c")), .null]), .objects([]),
            .list([.object(Self.item("d"))]),
        ])
        #expect(
            try await Self.run("Query.nested", value, "{ nested { name } }")
                == #"{"data":{"nested":[[{"name":"a"},{"name":"b"}],null,[{"name":"c"},null],[],[{"name":"d"}]]}}"#
        )
    }

    @Test("a null in a list goes up as far as it must", arguments: ["plain", "strict"])
    func nulls(field: String) async throws {
        let items = [Self.item("a", ["must": "m"]), Self.item("b"), Self.item("c", ["must": "m"])]
        let data =
            field == "plain" ? #"{"plain":[{"name":"a","must":"m"},null,{"name":"c","must":"m"}]}"# : "null"
        #expect(
            try await Self.run("Query.\(field)", .objects(items), "{ \(field) { name must } }")
                == #"{"data":\#(data),"errors":[{"message":"Cannot return null for non-nullable field Item.must.","locations":[{"line":1,"column":\#(field.count + 11)}],"path":["\#(field)",1,"must"]}]}"#
        )
    }

    @Test("objects of abstract types are written as what they are, in their order")
    func abstract() async throws {
        let other: JSONValue = ["__typename": "Other", "name": "o", "size": 3]
        let values = [Self.item("a"), other, Self.item("b", ["found": other]), ["__typename": "Query"], [:]]
        let document =
            "{ found { __typename ... on Named { name } ... on Other { size } ... on Item { found { ... on Other { size } } } } }"
        let expected =
            #"{"data":{"found":[{"__typename":"Item","name":"a","found":null},{"__typename":"Other","name":"o","size":3},{"__typename":"Item","name":"b","found":{"size":3}},null,null]},"errors":[{"message":"Runtime Object type \"Query\" is not a possible type for \"Found\".","locations":[{"line":1,"column":3}],"path":["found",3]},{"message":"Abstract type \"Found\" was resolved to a type \"\" that does not exist inside the schema.","locations":[{"line":1,"column":3}],"path":["found",4]}]}"#
        #expect(try await Self.run("Query.found", .objects(values), document) == expected)
        #expect(try await Self.run("Query.found", .list(values.map { .object($0) }), document) == expected)
    }

    @Test(
        "values of the wrong shape are refused where they stand",
        arguments: [
            ("one", .objects([[:]]), "Query.one expects no list.", #""one""#),
            ("one", .list([.null]), "Query.one expects no list.", #""one""#),
            ("one", .leaf(3), "Query.one expects an object.", #""one""#),
            (
                "plain", .object([:]), #"Expected Iterable, but did not find one for field \"Query.plain\"."#,
                #""plain""#
            ),
            (
                "nested", .objects([[:]]), #"Expected Iterable, but did not find one for field \"Query.nested\"."#,
                #""nested",0"#
            ),
            ("leaf", .object([:]), "The resolver of Query.leaf gave an object for a leaf.", #""leaf""#),
            ("leaf", .objects([[:]]), "The resolver of Query.leaf gave an object for a leaf.", #""leaf""#),
            (
                "leaves", .list([.leaf(1), .objects([])]), "The resolver of Query.leaves gave an object for a leaf.",
                #""leaves",1"#
            ),
        ] as [(String, ResolvedValue<JSONValue>, String, String)]
    )
    func shapes(field: String, value: ResolvedValue<JSONValue>, message: String, path: String) async throws {
        let document = field.hasPrefix("lea") ? "{ \(field) }" : "{ \(field) { name } }"
        let response = try await Self.run("Query.\(field)", value, document)
        #expect(response.contains(#"{"message":"\#(message)","locations":[{"line":1,"column":3}],"path":[\#(path)]}"#))
    }
}
