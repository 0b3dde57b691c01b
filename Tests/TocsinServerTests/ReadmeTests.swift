import Foundation
import Testing

@Suite("README")
struct ReadmeTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "README.md")

    @Test("it is short enough to be read")
    func length() throws {
        let lines = try String(contentsOf: Self.file, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(lines.count <= 200)
    }
}
