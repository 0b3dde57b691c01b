import ArgumentParser
import FoundationEssentials
import TocsinCore
import TocsinServer
import TocsinStore

/// Settings given as flags: every key of `tocsin settings` with `--` before it.
struct SettingsOptions: ParsableArguments {
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "Any setting as --name value; `tocsin settings` lists them all.",
            valueName: "--setting value"
        ),
        completion: .settingFlags
    )
    var settings: [String] = []

    /// The flags as a dictionary from key to value.
    func flags() throws -> [String: String] {
        var flags: [String: String] = [:]
        var rest = settings[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--"), argument.count > 2 else {
                throw ValidationError("Unexpected argument '\(argument)'. Settings are written --name value.")
            }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            var key = String(parts[0])
            if parts.count == 2 {
                flags[key] = String(parts[1])
            } else if key.hasPrefix("no-") {
                key = String(key.dropFirst(3))
                flags[key] = "false"
            } else if isFlag(key), rest.first.map({ $0.hasPrefix("--") }) ?? true {
                flags[key] = "true"
            } else if let value = rest.popFirst() {
                flags[key] = value
            } else {
                throw ValidationError("--\(key) needs a value.")
            }
        }
        return flags
    }

    private func isFlag(_ key: String) -> Bool {
        SettingTable.all.contains { $0.key == key && $0.isFlag }
    }
}

/// Where the data is, for commands that work on it beside a running server.
struct StoreOptions: ParsableArguments {
    @Option(name: .customLong("data-dir"), help: "Where the database and the server key live (TOCSIN_DATA_DIR).")
    var dataDirectory: String?

    @Option(help: "Where the data is kept: sqlite:PATH or postgres://… (TOCSIN_DATABASE_URL).")
    var database: String?

    @Option(name: .customLong("config"), help: "A settings file in TOML or JSON (TOCSIN_CONFIG).")
    var config: String?

    var flags: [String: String] {
        var flags: [String: String] = [:]
        flags["data-dir"] = dataDirectory
        flags["database"] = database
        flags["config"] = config
        return flags
    }
}

/// Reads settings as every command does.
enum SettingsLoading {
    static func load(flags: [String: String]) throws -> SettingsReading {
        do {
            return try read(flags: flags)
        } catch {
            throw CommandFailure(error.description, status: 2)
        }
    }

    /// Everything that is wrong with the settings and the files that they name.
    static func check(flags: [String: String]) -> SettingsProblems {
        let environment = ProcessInfo.processInfo.environment
        return SettingsReader.check(flags: flags, environment: environment, files: .system(environment: environment))
    }

    /// Reads settings as every command does; throws all that is wrong with them.
    static func read(flags: [String: String]) throws(SettingsProblems) -> SettingsReading {
        let environment = ProcessInfo.processInfo.environment
        return try SettingsReader.read(flags: flags, environment: environment, files: .system(environment: environment))
    }
}

extension OfflineStore {
    /// Runs a command's work on the data that the options name, and makes it only where it may.
    static func run(
        _ options: StoreOptions,
        migrations: MigrationMode = .apply,
        mayCreate: Bool = false,
        _ body: (OfflineStore) async throws(ServiceError) -> Void
    ) async throws {
        let loaded = try SettingsLoading.load(flags: options.flags)
        do {
            try await OfflineStore.run(settings: loaded.settings, migrations: migrations, mayCreate: mayCreate, body)
        } catch {
            throw CommandFailure(error.description)
        }
    }
}
