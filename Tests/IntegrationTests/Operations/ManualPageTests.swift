import Foundation
import Testing

@Suite("Manual pages and completions", .timeLimit(.minutes(5)))
struct ManualPageTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("scripts/manuals.py").path

    /// What a command says of itself.
    private static func help(_ path: [String], folder: String) async throws -> String {
        let said = try await TestBinary.run(path + ["--help"], folder: folder)
        #expect(said.status == 0)
        return said.output
    }

    /// The names that begin the lines of the help's lists of subcommands.
    private static func subcommands(in help: String) -> [String] {
        var isList = false
        return help.components(separatedBy: "\n").compactMap { line in
            if !line.hasPrefix(" ") { isList = line.hasSuffix("SUBCOMMANDS:") || (isList && line.isEmpty) }
            guard isList, let match = line.firstMatch(of: /^  ([a-z][a-z-]*)/) else { return nil }
            return String(match.output.1)
        }
    }

    @Test("each command has a page with all its options and subcommands, each setting and error code its entry")
    func pages() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-manuals-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let made = try await ChildProcess.run(
            "/usr/bin/env",
            ["python3", Self.script, try TestBinary.path(), folder],
            environment: TestBinary.environment,
            folder: folder
        )
        try #require(made.status == 0, "\(made.errors)")
        let page = { (name: String) in
            try String(contentsOfFile: "\(folder)/man/\(name)", encoding: .utf8).replacing("\\-", with: "-")
        }
        let main = try page("tocsin.1")
        // Help's groups have headings of their own ("SERVER SUBCOMMANDS:").
        let commands = Self.subcommands(in: try await Self.help([], folder: folder))
        #expect(commands.count > 25 && commands.contains("serve"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for command in commands where command != "help" {
                #expect(main.contains("tocsin-\(command) (1)"))
                let text = try page("tocsin-\(command).1")
                group.addTask { try await Self.check([command], in: text, folder: folder) }
            }
            try await group.waitForAll()
        }
        let settings = try page("tocsin.toml.5")
        #expect(settings.contains("port, --port, TOCSIN_PORT"))
        #expect(try page("tocsin-errors.7").contains("CURSOR_EXPIRED"))
        for file in ["bash/tocsin", "zsh/_tocsin", "fish/tocsin.fish"] {
            let text = try String(contentsOfFile: "\(folder)/completions/\(file)", encoding: .utf8)
            #expect(text.contains("publish") && text.contains("ready-file"))
        }
    }

    private static func check(_ path: [String], in page: String, folder: String) async throws {
        let help = try await help(path, folder: folder)
        for match in help.matches(of: /(?m)^  (?:(-\w), )?(--[a-z][a-z-]*)/) {
            #expect(page.contains("\\fB\(match.output.2)\\fR"), "\(path) has \(match.output.2)")
            if let short = match.output.1 { #expect(page.contains("\\fB\(short)\\fR"), "\(path) has \(short)") }
        }
        for subcommand in subcommands(in: help) where subcommand != "help" {
            #expect(page.contains("tocsin \((path + [subcommand]).joined(separator: " "))"))
            try await check(path + [subcommand], in: page, folder: folder)
        }
    }
}
