import Foundation
import GraphQLTransport
import Testing
import TocsinAPI

@Suite("Error codes")
struct ErrorCodeTests {
    @Test("schema/errors.md lists exactly the codes there are")
    func page() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "schema/errors.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let listed = lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| Code") }
            .compactMap { $0.split(separator: "|").first.map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(Set(listed) == Set(ErrorCode.allCases.map(\.rawValue)))
        #expect(listed.count == ErrorCode.allCases.count)
    }
}
