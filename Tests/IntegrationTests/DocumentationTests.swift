import Foundation
import JSON
import TestDatabases
import Testing
import TocsinClient

/// Runs the blocks marked `sh` of the README and of the pages in `docs`, each page's in
/// their order, by one shell.
@Suite("Pages, as they are tried", .serialized, .timeLimit(.minutes(15)))
struct DocumentationTests {
    @Test("every block marked sh runs to its end, without an error of GraphQL", arguments: TriedPage.all)
    func run(page: TriedPage) async throws {
        guard !page.startsServer else {
            return try await Self.run(page, in: try Self.makeFolder(), [:])
        }
        try await Installation.run(simulator: ["--quiet"]) { installation in
            let token = try await installation.addUser("alice")
            let client = try installation.makeClient(token: token)
            _ = try await client.makeTopic(named: "alerts")
            _ = try await client.registerPushToken(
                DeviceRegistration(token: String(repeating: "a0b1c2d3", count: 8), platform: "ios")
            )
            client.close()
            try await Self.run(
                page,
                in: installation.folder,
                ["TOCSIN_URL": installation.address, "TOCSIN_TOKEN": token]
            )
        }
    }

    /// The page's commands find `tocsin`, and ports of their own in place of
    /// those that the page names.
    private static func run(_ page: TriedPage, in folder: String, _ variables: [String: String]) async throws {
        let (port, control) = try (freePort(), freePort())
        var script = "set -eu -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\ncd '\(folder)'\n"
        script += page.blocks.joined(separator: "\n").replacing("8080", with: port).replacing("9099", with: control)
        try script.write(toFile: folder + "/page.sh", atomically: true, encoding: .utf8)
        let programs = folder + "/programs"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: programs + "/tocsin",
            withDestinationPath: try TestBinary.path()
        )
        var environment = TestBinary.environment.merging(variables) { $1 }
        environment["PATH"] = programs + ":" + environment["PATH", default: "/usr/bin:/bin"]
        environment["TOCSIN_PORT"] = port
        environment["TOCSIN_DATA_DIR"] = folder + "/data"
        // Passwords' hashes come last on a machine that runs all tests.
        environment["TOCSIN_EXECUTION_SECONDS"] = Patience.ofCurl
        // It ends what the shell has started with it.
        let shell = try ChildProcess(
            "/usr/bin/timeout",
            ["--kill-after", "5", "420", "/bin/bash", folder + "/page.sh"],
            environment: environment,
            folder: folder
        )
        let status = try await shell.untilExit(withinSeconds: 440)
        let said = "\(shell.output.suffix(2000))\n\(shell.errors.suffix(2000))"
        #expect(status == 0, "\(page.path) ended with \(status) in \(folder): \(said)")
        #expect(!shell.output.contains("\"errors\":[{"), "\(page.path): \(said)")
        if status == 0, variables.isEmpty { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static func makeFolder() throws -> String {
        let folder = NSTemporaryDirectory() + "tocsin-page-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func freePort() throws -> String {
        guard let port = PostgresProxy.freePort() else { throw HarnessFailure("There is no free port.") }
        return String(port)
    }
}

/// A page with commands that a reader may paste.
struct TriedPage: CustomTestStringConvertible {
    /// From the repository's folder.
    let path: String
    /// The blocks marked `sh`, in their order.
    let blocks: [String]

    var testDescription: String { path }

    /// Whether it begins with nothing; other pages go on from the quick start.
    var startsServer: Bool { blocks.contains { $0.contains("tocsin serve") } }

    /// The README and all pages in `docs` and its folders that have such blocks.
    static let all: [TriedPage] = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: root + "/docs")) ?? []
        let paths = ["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
        return paths.compactMap { path in
            guard let text = try? String(contentsOfFile: root + "/" + path, encoding: .utf8) else { return nil }
            let blocks = text.matches(of: /```sh\n(.*?)```/.dotMatchesNewlines()).map { String($0.output.1) }
            return blocks.isEmpty ? nil : TriedPage(path: path, blocks: blocks)
        }
    }()
}
