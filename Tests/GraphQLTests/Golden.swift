import Foundation
import Testing

/// Compares text with a file of `Golden/`; with `UPDATE_GOLDEN=1` in the environment it
/// rewrites the file instead.
func expectGolden(
    _ text: String,
    _ name: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
    let expected = try String(decoding: Data(contentsOf: file), as: UTF8.self)
    #expect(text == expected, "differs from Golden/\(name)", sourceLocation: sourceLocation)
}
