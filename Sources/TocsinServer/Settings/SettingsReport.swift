package import JSON

/// The settings as people and programs read them.
package enum SettingsReport {
    /// One `key = value` a line: a settings file in TOML, in which what is not set or secret is
    /// commented out; with `showsOrigin`, where each came from behind it.
    package static func text(_ origins: [SettingOrigin], showsOrigin: Bool) -> String {
        let lines = origins.map { entry in
            let value = entry.value.map { quoted($0) } ?? "(not set)"
            // Apps have names with points, so their settings cannot stand in a file like this.
            let isComment = entry.variable.isEmpty || entry.value == nil || entry.isMasked
            return (left: "\(isComment ? "# " : "")\(entry.key) = \(value)", right: entry.origin)
        }
        guard showsOrigin else { return lines.map { $0.left + "\n" }.joined() }
        let width = min(60, lines.map(\.left.count).max() ?? 0)
        return lines.map { line in
            line.left + String(repeating: " ", count: max(0, width - line.left.count)) + "  # \(line.right)\n"
        }.joined()
    }

    /// An object by key, each with `value` (null: not set), `origin` and `variable`.
    package static func json(_ origins: [SettingOrigin]) -> JSONValue {
        .object(
            JSONObject(
                origins.map { entry in
                    (
                        entry.key,
                        [
                            "value": entry.value.map { .string($0) } ?? .null, "origin": .string(entry.origin),
                            "variable": entry.variable.isEmpty ? .null : .string(entry.variable),
                        ]
                    )
                }
            )
        )
    }

    /// The tables of docs/settings.md: a heading for each group, a row for each setting.
    package static func markdown() -> String {
        SettingTable.groups.map { group in
            "\n## \(group.title)\n\n| Variable | Default | What it does |\n|---|---|---|\n"
                + group.definitions.map { definition in
                    let value = definition.defaultText.map { "`\($0)`" } ?? ""
                    let unit = definition.unit.map { " In \($0)." } ?? ""
                    return "| \(names(of: definition)) | \(value) | \(definition.help)\(unit) |\n"
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
                            "\n# \(definition.help)\(unit)\n#\(definition.key) = \(quoted(definition.defaultText ?? ""))\n"
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
                            + roff(definition.help + unit + value) + "\n"
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

    private static func quoted(_ value: String) -> String {
        if Int(value) != nil || Double(value) != nil || value == "true" || value == "false" { return value }
        return JSONValue.string(value).serializedString()
    }
}
