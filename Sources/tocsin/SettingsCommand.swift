import ArgumentParser
import JSON
import TocsinServer

/// The command `tocsin settings [check]`.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show the effective settings, secrets masked.",
        subcommands: [Show.self, Check.self],
        defaultSubcommand: Show.self
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List every setting with its value.")

        @Flag(name: .customLong("show-origin"), help: "Say where each value comes from.") var showOrigin = false
        @Flag(help: "Print one JSON object.") var json = false
        @OptionGroup var options: SettingsOptions

        func run() async throws {
            let loaded = try SettingsLoading.load(flags: try options.flags())
            for warning in loaded.warnings { StandardError.write("tocsin: warning: \(warning)\n") }
            if json {
                print(SettingsReport.json(loaded.origins).serializedString())
            } else {
                print(SettingsReport.text(loaded.origins, showsOrigin: showOrigin), terminator: "")
            }
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the settings; every problem is reported at once."
        )

        @OptionGroup var options: SettingsOptions

        func run() async throws {
            let loaded = try SettingsLoading.load(flags: try options.flags())
            for warning in loaded.warnings { print("warning: \(warning)") }
            print("The settings are in order.")
        }
    }
}
