import TocsinCore
import TocsinServer

extension Tool {
    /// Runs a command's work on the data that the options name.
    static func run(
        _ options: StoreOptions,
        migrates: Bool = true,
        _ body: (Tool) async throws(ServiceError) -> Void
    ) async throws {
        let loaded = try SettingsLoading.load(flags: options.flags)
        do {
            try await Tool.run(settings: loaded.settings, migrates: migrates, body)
        } catch {
            throw CommandFailure(error.description)
        }
    }
}
