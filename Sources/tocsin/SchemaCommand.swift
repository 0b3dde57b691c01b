import ArgumentParser
import TocsinAPI
import TocsinServer

/// The command `tocsin schema print`.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show the API.",
        subcommands: [Print.self]
    )

    struct Print: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the full GraphQL schema as clients see it."
        )

        @OptionGroup var options: SettingsOptions

        func run() async throws {
            let settings = try SettingsLoading.load(flags: try options.flags()).settings
            do {
                print(try SchemaLoading.load(settings.server).sdl)
            } catch {
                throw CommandFailure("\(error)")
            }
        }
    }
}
