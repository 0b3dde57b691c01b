import ArgumentParser
import TocsinServer

/// What is made from the table of settings alone.
extension SettingsCommand {
    struct Example: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a settings file in which every setting is commented out.",
            discussion: "  tocsin settings example > tocsin.toml"
        )

        func run() async throws {
            print(SettingsReport.example(), terminator: "")
        }
    }

    /// For scripts/manuals.py, which makes the manual pages.
    struct Manual: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the settings in the language of manual pages.",
            shouldDisplay: false
        )

        func run() async throws {
            print(SettingsReport.manual(), terminator: "")
        }
    }
}
