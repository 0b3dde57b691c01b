import TocsinCore
import TocsinServer
import TocsinStore

extension OfflineStore {
    /// Runs a command's work on the data that the options name.
    static func run(
        _ options: StoreOptions,
        migrations: MigrationMode = .apply,
        _ body: (OfflineStore) async throws(ServiceError) -> Void
    ) async throws {
        let loaded = try SettingsLoading.load(flags: options.flags)
        do {
            try await OfflineStore.run(settings: loaded.settings, migrations: migrations, body)
        } catch {
            throw CommandFailure(error.description)
        }
    }
}
