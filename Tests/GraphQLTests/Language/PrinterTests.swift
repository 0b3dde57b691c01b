import Foundation
import GraphQL
import Testing

@Suite("Printer")
struct PrinterTests {
    @Test(
        "every production of the grammar prints as graphql-js lays it out",
        arguments: ["kitchen-sink", "schema-kitchen-sink"]
    )
    func kitchenSink(name: String) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden/\(name).graphql")
        let document = try parse(String(decoding: Data(contentsOf: file), as: UTF8.self), limits: .unlimited)
        let printed = printDocument(document)
        try expectGolden(printed + "\n", "\(name).printed.graphql")
        #expect(printDocument(try parse(printed, limits: .unlimited)) == printed)
    }

    @Test(
        "texts survive printing and reading, in quotes and in blocks",
        arguments: [
            "", "plain", "two\nlines", "quote \" inside", "\"", "ends with \"", "\\", "ends with \\", "\"\"\"",
            "a \"\"\" b",
            "  indented", "a\n  b\n  c", "tab\tand \u{7} and \u{7F}", "é😀", String(repeating: "long ", count: 20),
        ]
    )
    func texts(text: String) throws {
        let quoted = try parse("{ a(b: \(quote(text))) }")
        #expect(printDocument(try parse(printDocument(quoted))) == printDocument(quoted))
        let block = "\"\"\"\n" + text.replacing("\"\"\"", with: "\\\"\"\"") + "\n\"\"\""
        let document = try parse("\(block) type T { a: A }", limits: .unlimited)
        guard case .objectType(let type) = try parse(printDocument(document)).definitions[0],
            case .objectType(let original) = document.definitions[0]
        else {
            Issue.record("no type")
            return
        }
        #expect(type.description?.value == original.description?.value)
    }

    private func quote(_ text: String) -> String {
        "\"" + text.unicodeScalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined() + "\""
    }
}
