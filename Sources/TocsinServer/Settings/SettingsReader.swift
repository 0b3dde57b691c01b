/// Reads settings from flags, environment and file, in this order of precedence, and checks them all.
package enum SettingsReader {
    /// The settings and where each came from.
    ///
    /// `flags` are by name without hyphens in front; `config` names the settings file, as `TOCSIN_CONFIG` does. Throws every
    /// problem at once. Empty values count as not given.
    package static func read(
        flags: [String: String],
        environment: [String: String],
        files: SettingsFiles
    ) throws(SettingsProblems) -> SettingsReading {
        var gathering = SettingsGathering(flags: flags, environment: environment, files: files)
        gathering.readFile()
        for definition in SettingTable.all { gathering.read(definition) }
        gathering.readNamedFiles()
        gathering.readApps()
        gathering.noteNamesThatMeanNothing()
        return try gathering.result()
    }
}

/// Settings, and what is to be said about them.
package struct SettingsReading: Sendable {
    package let settings: Settings
    /// One for each setting, in the table's order; then those of single apps.
    package let origins: [SettingOrigin]
    /// Sentences to log at start.
    package let warnings: [String]
}

/// Where a setting's value came from.
package struct SettingOrigin: Sendable, Hashable {
    package let key: String
    /// Empty for settings that stand in the file only.
    package let variable: String
    /// Secrets masked; nil: not set.
    package let value: String?
    /// `--port`, `TOCSIN_PORT`, `tocsin.toml: port`, or `default`.
    package let origin: String
}
