import TocsinCore
import TocsinServer
import TocsinStore

/// Users and tokens, made by what `tocsin user add` and `tocsin token create` call.
///
/// The commands themselves have tests of their own: as a process each takes a quarter of a second
/// of a core, some hundred times.
enum LocalUsers {
    /// Adds a user at a server's data and makes a token; answers its text.
    static func add(_ name: String, dataDirectory: String, environment: [String: String]) async throws -> String {
        let settings = try SettingsReader.read(
            flags: ["data-dir": dataDirectory],
            environment: environment,
            files: .system(environment: environment)
        ).settings
        var text = ""
        try await OfflineStore.run(
            settings: settings,
            migrations: .apply,
            mayCreate: true
        ) { tool throws(ServiceError) in
            let account = try await tool.accounts.add(name: name, passwordHash: nil)
            let scope = try TokenService.scope(of: ["full"])
            text = try await tool.tokens.create(.init(name: "full", for: account.id, scope: scope), by: nil).text
        }
        return text
    }
}
