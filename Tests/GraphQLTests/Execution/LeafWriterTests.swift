import GraphQL
import JSON
import Testing

@Suite("Leaf writer")
struct LeafWriterTests {
    private static let sdl = """
        type Query { text: String id: ID int: Int float: Float flag: Boolean color: Color any: Any upper: Upper list: [Int!] }
        enum Color { RED GREEN }
        scalar Any
        scalar Upper
        """
    private static let types = ["text", "id", "int", "float", "flag", "color", "any", "upper", "list"]

    /// The response to a field whose resolver calls the writer, or its error's message.
    private static func run(_ field: String, _ write: @escaping @Sendable (inout LeafWriter) -> Void) async throws
        -> String
    {
        var resolvers = ResolverMap<Int, Int>()
        for type in types { resolvers.leaf("Query.\(type)") { _, out in write(&out) } }
        resolvers.serialize(scalar: "Upper") { (value) throws(CoercionError) in
            guard let text = value.stringValue else { throw CoercionError("Upper takes text.") }
            return .string(text.uppercased())
        }
        let executable = try ExecutableSchema(schema: Schema(sdl: sdl), resolvers: resolvers)
        let plan = try PlanCache(schema: executable.schema).plan(text: "{ \(field) }")
        let result = await executable.execute(plan, root: 0, context: 0)
        if let error = result.errors.first { return error.message }
        return String(
            String(decoding: result.bytes, as: UTF8.self).dropFirst(#"{"data":{"":"#.count + field.count).dropLast(2)
        )
    }

    @Test(
        "text is written where it fits",
        arguments: [
            ("text", #""a\"b""#), ("id", #""a\"b""#), ("any", #""a\"b""#), ("upper", #""A\"B""#),
            ("int", #"Int cannot represent non-integer value: "a\"b""#),
            ("color", #"Enum "Color" cannot represent value: "a\"b""#),
            ("list", #"Expected Iterable, but did not find one for field "Query.list"."#),
        ]
    )
    func text(field: String, expected: String) async throws {
        #expect(try await Self.run(field) { $0.string("a\"b") } == expected)
    }

    @Test(
        "whole numbers are written where they fit",
        arguments: [
            ("int", "-7"), ("float", "-7"), ("any", "-7"), ("text", #""-7""#), ("id", #""-7""#), ("flag", "true"),
            ("upper", "Upper takes text."),
        ]
    )
    func int(field: String, expected: String) async throws {
        #expect(try await Self.run(field) { $0.int(-7) } == expected)
    }

    @Test("numbers, truth values and lists are written where they fit")
    func others() async throws {
        #expect(try await Self.run("float") { $0.double(0.5) } == "0.5")
        #expect(try await Self.run("any") { $0.double(-1e300) } == "-1e+300")
        #expect(try await Self.run("int") { $0.double(3) } == "3")
        #expect(try await Self.run("float") { $0.double(.nan) } == "Float cannot represent non numeric value: null")
        #expect(try await Self.run("flag") { $0.bool(true) } == "true")
        #expect(try await Self.run("int") { $0.bool(true) } == "1")
        #expect(try await Self.run("color") { $0.string("RED") } == #""RED""#)
        #expect(try await Self.run("list") { $0.json([1, 2]) } == "[1,2]")
        #expect(try await Self.run("any") { $0.json(["a": [nil, "\n"]]) } == #"{"a":[null,"\n"]}"#)
        #expect(
            try await Self.run("int") { $0.int(1 << 40) }
                == "Int cannot represent non 32-bit signed integer value: 1099511627776"
        )
    }

    @Test("nothing, nil and null are null; the first call wins")
    func nothing() async throws {
        #expect(try await Self.run("text") { _ in } == "null")
        #expect(try await Self.run("text") { $0.string(nil) } == "null")
        #expect(try await Self.run("int") { $0.int(nil as Int?) } == "null")
        #expect(try await Self.run("float") { $0.double(nil) } == "null")
        #expect(try await Self.run("flag") { $0.bool(nil) } == "null")
        #expect(try await Self.run("any") { $0.json(.null) } == "null")
        #expect(
            try await Self.run("text") {
                $0.string("first")
                $0.string("second")
                $0.fail("third")
            } == #""first""#
        )
        #expect(
            try await Self.run("text") {
                $0.fail("first")
                $0.string("second")
            } == "first"
        )
    }

    @Test("a response that outgrows the last one is whole", arguments: [10, 300, 5000, 200_000])
    func growth(length: Int) async throws {
        let text = String(repeating: "ab\"é\u{1}", count: length / 4)
        let expected = String(repeating: #"ab\"é\u0001"#, count: length / 4)
        #expect(try await Self.run("text") { $0.string(text) } == "\"\(expected)\"")
    }
}
