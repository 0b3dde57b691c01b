import Foundation
import PackagePlugin

/// Embeds the text files a target ships with: `schema/*.graphql` and `schema/*.json` into
/// TocsinAPI, `migrations/*.sql` into TocsinStore, the client for browsers and the console into
/// TocsinServer.
///
/// String literals from a build plugin cost 1.5 s for 200 kB where `.embedInCode` costs 72 s.
@main
struct EmbedFilesPlugin: BuildToolPlugin {
    private struct Source {
        let folder: String
        let pathExtensions: Set<String>
        let typeName: String
    }

    private static let sources = [
        "TocsinAPI": [Source(folder: "schema", pathExtensions: ["graphql", "json"], typeName: "EmbeddedSchema")],
        "TocsinServer": [
            Source(
                folder: "Sources/TocsinClient/Browser",
                pathExtensions: ["js", "ts"],
                typeName: "EmbeddedBrowserFiles"
            ),
            Source(
                folder: "Sources/Console",
                pathExtensions: ["html", "css", "js", "svg", "webmanifest"],
                typeName: "EmbeddedConsole"
            ),
        ],
        "TocsinStore": [Source(folder: "migrations", pathExtensions: ["sql"], typeName: "EmbeddedMigrations")],
    ]

    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        try (Self.sources[target.name] ?? []).map { source in try command(for: source, context, target) }
    }

    private func command(for source: Source, _ context: PluginContext, _ target: any Target) throws -> Command {
        let folder = context.package.directoryURL.appending(path: source.folder)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { source.pathExtensions.contains($0.pathExtension) }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        let output = context.pluginWorkDirectoryURL.appending(path: "\(source.typeName).swift")
        let tool = try context.tool(named: "embed-files").url
        return .buildCommand(
            displayName: "Embedding \(source.folder)/ into \(target.name)",
            executable: tool,
            arguments: [output.path(), source.typeName] + files.map { $0.path() },
            inputFiles: files,
            outputFiles: [output]
        )
    }
}
