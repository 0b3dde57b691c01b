import ArgumentParser
import TocsinServer

/// The command `tocsin generate categories`: source for apps from the server's files.
struct GenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Print source code for apps.",
        subcommands: [Categories.self]
    )

    struct Categories: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the notification categories as an app registers them.",
            discussion: """
                The categories are those of the server's file (--categories, TOCSIN_CATEGORIES), or the ones that ship.

                EXAMPLE
                  tocsin generate categories --swift > TocsinCategories.swift
                """
        )

        @Flag(help: "As Swift, for UserNotifications of Apple's.") var swift = false
        @OptionGroup var options: SettingsOptions

        func validate() throws {
            guard swift else { throw ValidationError("Say what to print: --swift.") }
        }

        func run() async throws {
            let settings = try SettingsLoading.load(flags: try options.flags()).settings
            do throws(StartError) {
                Terminal.write(Array(try CategorySource.swift(path: settings.server.categoriesPath).utf8))
            } catch {
                throw CommandFailure(error.description)
            }
        }
    }
}
