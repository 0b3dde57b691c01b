import Foundation
import Testing

/// Compares text with `Golden/<name>`; with `UPDATE_GOLDEN=1` in the environment it
/// writes the file instead.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let file = folder.appendingPathComponent("Golden").appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
        try text.write(to: file, atomically: true, encoding: .utf8)
        return
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    #expect(text == expected, "Golden/\(name) differs; rewrite it with UPDATE_GOLDEN=1", sourceLocation: sourceLocation)
}
