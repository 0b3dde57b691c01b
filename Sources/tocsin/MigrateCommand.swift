import ArgumentParser
import TocsinCore
import TocsinServer
import TocsinStore

/// The command `tocsin migrate [status]`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Apply the database's migrations, or list them.",
        discussion: "`tocsin serve` applies them itself unless it is told --no-migrate.",
        subcommands: [Apply.self, Status.self],
        defaultSubcommand: Apply.self
    )

    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Apply what is missing.")

        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store, migrations: .apply, mayCreate: true) { tool throws(ServiceError) in
                for migration in try await tool.migrations() { print(migration) }
                let doubled = try await tool.doubledTopicNames()
                guard !doubled.isEmpty else { return }
                Terminal.remark(
                    "Names of topics are an owner's only once. These were given before, and work by id alone until they are "
                        + "renamed or deleted:"
                )
                for line in doubled { Terminal.remark(Terminal.harmless(line)) }
            }
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List migrations and whether they are applied.")

        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store, migrations: .ignore) { tool throws(ServiceError) in
                for migration in try await tool.migrations() { print(migration) }
            }
        }
    }
}
