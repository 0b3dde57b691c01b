import Foundation
import Synchronization
import Testing

@Suite("The engine as a library")
struct LibraryTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let file = folder.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/engine.md")

    @Test("the page's example answers a query and an event of a subscription")
    func example() async throws {
        let printed = Mutex<[String]>([])
        try await libraryExample { line in printed.withLock { $0.append(line) } }
        #expect(
            printed.withLock { $0 } == [
                #"{"data":{"notes":[{"text":"Disk full"}]}}"#, #"{"data":{"added":{"text":"Disk fine"}}}"#,
            ]
        )
    }

    @Test("the page shows the example as it is compiled; UPDATE_GOLDEN=1 rewrites it")
    func page() throws {
        let source = try String(contentsOf: Self.folder.appending(path: "LibraryExample.swift"), encoding: .utf8)
        let marked = try Self.part(of: source, from: "// Page: begin\n", to: "    // Page: end")
        let example = source[marked].split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }.joined(separator: "\n")
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let block = try Self.part(of: text, from: "```swift\n", to: "```\n")
        let expected = "import GraphQL\n" + example
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            let updated = text[..<block.lowerBound] + expected + text[block.upperBound...]
            try String(updated).write(to: Self.file, atomically: true, encoding: .utf8)
        } else {
            #expect(text[block] == expected)
        }
    }

    private static func part(of text: String, from begin: String, to end: String) throws -> Range<String.Index> {
        let start = try #require(text.range(of: begin), "\(begin) is missing").upperBound
        let stop = try #require(text.range(of: end, range: start..<text.endIndex), "\(end) is missing").lowerBound
        return start..<stop
    }
}
