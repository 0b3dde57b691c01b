import GraphQL
import JSON
import Testing

@Suite("Syntax tree")
struct SyntaxTreeTests {
    private func tree(_ text: String) throws -> JSONValue {
        let limits = JSONLimits(maximumDepth: 200)
        return try JSONParser.parse(try syntaxTree(of: Array(text.utf8), limits: .unlimited), limits: limits)
    }

    /// The text of every node as its `loc` cuts it out of the source, by kind.
    private func spans(_ node: JSONValue, of text: [UInt16], into found: inout [String]) {
        switch node {
        case .array(let nodes): for node in nodes { spans(node, of: text, into: &found) }
        case .object(let members):
            for member in members where member.key != "loc" { spans(member.value, of: text, into: &found) }
            guard let kind = node["kind"]?.stringValue, let start = node["loc"]?["start"]?.intValue,
                let end = node["loc"]?["end"]?.intValue
            else { return }
            found.append("\(kind) \(String(decoding: text[Int(start)..<Int(end)], as: UTF16.self))")
        default: break
        }
    }

    private func spans(_ text: String) throws -> [String] {
        var found: [String] = []
        spans(try tree(text), of: Array(text.utf16), into: &found)
        return found
    }

    @Test("every node knows where it stands, in UTF-16 code units")
    func executable() throws {
        #expect(
            try spans(#"# é😀"# + "\n" + #"{ a: b(x: "😀é", y: {z: [$v]}) @d ... on T { ...F } }"#).dropLast(2) == [
                "Name a", "Name b", "Name x", #"StringValue "😀é""#, #"Argument x: "😀é""#, "Name y", "Name z", "Name v",
                "Variable $v", "ListValue [$v]", "ObjectField z: [$v]", "ObjectValue {z: [$v]}",
                "Argument y: {z: [$v]}", "Name d", "Directive @d", #"Field a: b(x: "😀é", y: {z: [$v]}) @d"#, "Name T",
                "NamedType T", "Name F", "FragmentSpread ...F", "SelectionSet { ...F }",
                "InlineFragment ... on T { ...F }",
                #"SelectionSet { a: b(x: "😀é", y: {z: [$v]}) @d ... on T { ...F } }"#,
            ]
        )
    }

    @Test("definitions of types begin with their descriptions")
    func typeSystem() throws {
        #expect(
            try spans(#""d" type A implements B & C { "e" f(g: [Int!]! = 1): D }"#) == [
                #"StringValue "d""#, "Name A", "Name B", "NamedType B", "Name C", "NamedType C", #"StringValue "e""#,
                "Name f", "Name g", "Name Int", "NamedType Int", "NonNullType Int!", "ListType [Int!]",
                "NonNullType [Int!]!", "IntValue 1", "InputValueDefinition g: [Int!]! = 1", "Name D", "NamedType D",
                #"FieldDefinition "e" f(g: [Int!]! = 1): D"#,
                #"ObjectTypeDefinition "d" type A implements B & C { "e" f(g: [Int!]! = 1): D }"#,
                #"Document "d" type A implements B & C { "e" f(g: [Int!]! = 1): D }"#,
            ]
        )
    }

    @Test("members that were not written are left out, and numbers are text")
    func members() throws {
        let field = try tree("{ a(x: 1.50) }")["definitions"]?[0]?["selectionSet"]?["selections"]?[0]
        #expect(field?["alias"] == nil)
        #expect(field?["selectionSet"] == nil)
        #expect(field?["arguments"]?[0]?["value"]?["value"] == "1.50")
        let directive = try tree("directive @d repeatable on FIELD")["definitions"]?[0]
        #expect(directive?["repeatable"] == true)
    }

    @Test(
        "bytes that are no UTF-8 are refused with their location",
        arguments: [([0x7B, 0x0D, 0x0A, 0xC3, 0xA9, 0xFF], 2, 2), ([0xFF], 1, 1), ([0x7B, 0xED, 0xA0, 0x80], 1, 2)]
    )
    func encoding(bytes: [UInt8], line: Int, column: Int) throws {
        let error = try #require(throws: SyntaxError.self) { try syntaxTree(of: bytes) }
        #expect(error.message == "Syntax Error: The document is not valid UTF-8.")
        #expect(error.locations == [GraphQL.SourceLocation(line: line, column: column)])
    }
}
