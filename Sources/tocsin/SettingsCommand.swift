import ArgumentParser
import JSON
import TocsinServer

/// `tocsin settings [check]`
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
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var options: SettingsOptions

        func run() async throws {
            let loaded = try SettingsLoading.load(flags: try options.flags())
            for warning in loaded.warnings { StandardError.write("tocsin: warning: \(warning)\n") }
            for row in loaded.rows {
                if json {
                    print(
                        JSONLine.text([
                            ("key", .string(row.key)), ("value", row.value.map { .string($0) } ?? .null),
                            ("variable", .string(row.variable)), ("origin", .string(row.origin)),
                        ])
                    )
                } else {
                    print("\(row.key) = \(row.value ?? "")\(showOrigin ? "    # \(row.origin)" : "")")
                }
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
