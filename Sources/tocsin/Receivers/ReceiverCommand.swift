import ArgumentParser
import JSON
import TocsinReceivers
import TocsinServer

/// The command `tocsin receiver`: what senders post becomes events.
struct ReceiverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receiver",
        abstract: "Show and try out the receivers that turn what senders post into events.",
        discussion: "Nothing is stored, and no server is asked.",
        subcommands: [List.self, Test.self]
    )

    /// The receivers that ship, and those of the operator's file.
    static func catalog(_ options: SettingsOptions) throws -> ReceiverCatalog {
        let settings = try SettingsLoading.load(flags: try options.flags()).settings
        do throws(StartError) {
            return try ReceiverLoading.catalog(settings.server)
        } catch {
            throw CommandFailure(error.description)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the receivers that integrations of kind TEMPLATE may name.",
            discussion: """
                Those that ship, and those of a file of your own (--receivers, TOCSIN_RECEIVERS), which stand in \
                place of shipped ones of the same name.
                """
        )

        @Flag(help: "Print JSON, an object a line.") var json = false
        @OptionGroup var options: SettingsOptions

        func run() async throws {
            for entry in try ReceiverCommand.catalog(options).entries {
                let template = entry.template
                if json {
                    let line: JSONValue = [
                        "name": .string(template.name), "about": .string(template.about), "own": .bool(entry.isOwn),
                        "signed": .bool(template.signature != nil),
                    ]
                    Terminal.print(line.serializedString())
                } else {
                    let padding = String(repeating: " ", count: max(1, 16 - template.name.count))
                    Terminal.print(template.name + padding + template.about + (entry.isOwn ? " (own)" : ""))
                }
            }
        }
    }
}
