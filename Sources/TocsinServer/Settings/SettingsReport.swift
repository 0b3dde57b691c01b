package import JSON

/// The settings as people and programs read them.
package enum SettingsReport {
    /// The settings as a settings file in TOML, one `key = value` a line.
    ///
    /// What is not set, or secret, is commented out, with what makes no sense without the secret. A
    /// secret that was read from a file is named by its file. With `showsOrigin`, each line says
    /// where its value came from.
    package static func text(
        _ origins: [SettingOrigin],
        tables: [SettingsFileTable] = [],
        showsOrigin: Bool
    ) -> String {
        let lost = LostSecrets(origins)
        let lines = origins.flatMap { entry -> [(left: String, right: String)] in
            let value = entry.value.map { SettingsTOML.value(of: $0) } ?? "(not set)"
            // Those of tables stand below, as tables.
            let isShown = !entry.variable.isEmpty && !entry.isMasked
            let rest = isShown ? entry.value.flatMap { lost.rest(of: entry.key, $0) } : nil
            let isKept = rest != nil && rest == entry.value
            var lines = [(left: "\(isKept ? "" : "# ")\(entry.key) = \(value)", right: entry.origin)]
            if let rest, !isKept {
                lines.append((left: "\(entry.key) = \(SettingsTOML.value(of: rest))", right: entry.origin))
            }
            if let path = entry.path, !entry.variable.isEmpty {
                lines.append((left: "\(entry.key)-file = \(SettingsTOML.quoted(path))", right: entry.origin))
            }
            return lines
        }
        let ofTables = tables.map { "\n" + SettingsTOML.text(of: $0) }.joined()
        guard showsOrigin else { return lines.map { $0.left + "\n" }.joined() + ofTables }
        let width = min(60, lines.map(\.left.count).max() ?? 0)
        return lines.map { line in
            line.left + String(repeating: " ", count: max(0, width - line.left.count)) + "  # \(line.right)\n"
        }.joined() + ofTables
    }

    /// An object by key, each with `value` (null: not set), `origin`, `variable` and `reloads`.
    ///
    /// Of a running server values are those that hold now, and `pendingRestart` says whether
    /// another waits for a restart; origins are those of the start.
    package static func json(_ origins: [SettingOrigin], of reloader: Reloader? = nil) -> JSONValue {
        let (settings, pending) = (reloader?.settings, Set(reloader?.pending ?? []))
        let definitions = Dictionary(uniqueKeysWithValues: SettingTable.all.map { ($0.key, $0) })
        return .object(
            JSONObject(
                origins.map { entry in
                    var value = entry.value
                    if let settings, let definition = definitions[entry.key] { value = definition.text(settings) }
                    var members: JSONObject = [
                        "value": value.map { .string($0) } ?? .null, "origin": .string(entry.origin),
                        "variable": entry.variable.isEmpty ? .null : .string(entry.variable),
                        "reloads": .bool(entry.reloads),
                    ]
                    if reloader != nil, definitions[entry.key] != nil {
                        members["pendingRestart"] = .bool(pending.contains(entry.key))
                    }
                    return (entry.key, .object(members))
                }
            )
        )
    }

    /// The tables of docs/settings.md: a heading for each group, a row for each setting.
    package static func markdown() -> String {
        SettingTable.groups.map { group in
            "\n## \(group.title)\n\n| Variable | Default | Reloads | What it does |\n|---|---|---|---|\n"
                + group.definitions.map { definition in
                    let value = definition.defaultText.map { "`\($0)`" } ?? ""
                    let unit = definition.unit.map { " In \($0)." } ?? ""
                    let reloads = definition.reloads ? "yes" : ""
                    return "| \(names(of: definition)) | \(value) | \(reloads) | \(definition.help)\(unit) |\n"
                }.joined()
        }.joined()
    }

    /// A settings file in TOML with every setting commented out, as an installation begins with it;
    /// what has no default stands with an empty value, which counts as not set.
    package static func example() -> String {
        """
        # Settings of Tocsin. Each line below shows a default: remove its # to change it.
        # Check the file with `tocsin settings check --config FILE`, then restart the server.
        # A flag wins over the environment, the environment over this file.

        """
            + SettingTable.groups.map { group in
                "\n## \(group.title)\n"
                    + group.definitions.map { definition in
                        let unit = definition.unit.map { " In \($0)." } ?? ""
                        return
                            "\n# \(definition.help)\(unit)\n#\(definition.key) = \(SettingsTOML.quoted(definition.defaultText ?? ""))\n"
                    }.joined()
            }.joined()
    }

    /// The part of the manual page that lists the settings, in roff.
    package static func manual() -> String {
        ".SH SETTINGS\n"
            + SettingTable.groups.map { group in
                ".SS \(group.title)\n"
                    + group.definitions.map { definition in
                        let value = definition.defaultText.map { " Default: \($0)." } ?? ""
                        let unit = definition.unit.map { " In \($0)." } ?? ""
                        let names =
                            [definition.key, definition.flag, definition.variable] + definition.aliases.map(\.variable)
                        return ".TP\n.B " + roff((names + definition.fileVariables).joined(separator: ", ")) + "\n"
                            + roff(definition.help + unit + value + (definition.reloads ? " SIGHUP reloads it." : ""))
                            + "\n"
                    }.joined()
            }.joined()
    }

    /// Text in which roff sees no commands.
    private static func roff(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func names(of definition: SettingDefinition) -> String {
        let others = definition.aliases.map(\.variable) + definition.fileVariables
        let aliases = others.isEmpty ? "" : " (also " + others.map { "`\($0)`" }.joined(separator: ", ") + ")"
        return "`\(definition.variable)`" + aliases
    }
}
