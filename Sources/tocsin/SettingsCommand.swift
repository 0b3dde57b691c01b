import ArgumentParser
import JSON
import TocsinServer

/// The command `tocsin settings [check]`.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show the effective settings, secrets masked.",
        subcommands: [Show.self, Check.self, Example.self, Manual.self],
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
            abstract: "Check the settings and the files they name; every problem is reported at once."
        )

        @OptionGroup var options: SettingsOptions

        func run() async throws {
            let loaded = try SettingsLoading.load(flags: try options.flags())
            let found = SettingsCheck.result(of: loaded.settings)
            for warning in loaded.warnings + found.warnings { print("warning: \(warning)") }
            guard found.problems.isEmpty else {
                throw CommandFailure(found.problems.joined(separator: "\n"), status: 2)
            }
            print("The settings are in order.")
        }
    }
}
