import Foundation
import Testing

@Suite("The runbook's commands", .timeLimit(.minutes(5)))
struct RunbookTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/runbook.md")

    /// The words of each `tocsin` command in the page's blocks, without what pipes follow.
    private static func commands() throws -> [[String]] {
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        let commands = lines.compactMap { line -> [String]? in
            guard line.hasPrefix("$ ") else { return nil }
            let words = line.dropFirst(2).prefix { $0 != "|" }.split(separator: " ").map(String.init)
            return words.first == "tocsin" ? Array(words.dropFirst()) : nil
        }
        return Array(Set(commands)).sorted { $0.joined() < $1.joined() }
    }

    @Test("each command of ours is one of the program's, with the options that it has")
    func exist() async throws {
        let commands = try Self.commands()
        #expect(commands.count > 5)
        let folder = NSTemporaryDirectory() + "tocsin-runbook-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for words in commands {
            let path = Array(words.prefix { $0.contains(/^[a-z][a-z-]*$/) })
            let help = try await TestBinary.run(path + ["--help"], folder: folder)
            let shown = "tocsin \(words.joined(separator: " "))"
            #expect(help.status == 0, "\(shown): \(help.errors)")
            // A word that is no subcommand would show the help of what stands before it.
            #expect(help.output.contains("USAGE: tocsin \(path.joined(separator: " "))"), "\(shown)")
            for option in words where option.hasPrefix("--") {
                #expect(help.output.contains(option), "\(shown) has no \(option)")
            }
        }
    }
}
