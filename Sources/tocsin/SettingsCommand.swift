import ArgumentParser
import JSON
import TocsinServer

/// The command `tocsin settings [check]`.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show the effective settings, secrets masked.",
        discussion: """
            What is printed is a settings file: `tocsin settings > tocsin.toml` keeps all but secrets, which are \
            commented out with what needs them.
            """,
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
                let text = SettingsReport.text(loaded.origins, tables: loaded.tables, showsOrigin: showOrigin)
                print(text, terminator: "")
            }
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the settings and the files they name; every problem is reported at once."
        )

        @Flag(help: "Print one JSON object: ok, problems, warnings.") var json = false
        @OptionGroup var options: SettingsOptions

        func run() async throws {
            let found = SettingsLoading.check(flags: try options.flags())
            if json {
                print(found.json.serializedString())
                if !found.problems.isEmpty { throw ExitCode(2) }
                return
            }
            guard found.problems.isEmpty else { throw CommandFailure(found.description, status: 2) }
            for warning in found.warnings { print("warning: \(warning)") }
            print("The settings are in order.")
        }
    }
}
