import TocsinCore
import TocsinServer
import TocsinStore

extension Tool {
    /// Runs a command's work on the data that the options name.
    static func run(
        _ options: StoreOptions,
        migrations: MigrationMode = .apply,
        _ body: (Tool) async throws(ServiceError) -> Void
    ) async throws {
        let loaded = try SettingsLoading.load(flags: options.flags)
        do {
            try await Tool.run(settings: loaded.settings, migrations: migrations, body)
        } catch {
            throw CommandFailure(error.description)
        }
    }
}
