package import JSON

/// The settings as people and programs read them.
package enum SettingsReport {
    /// One `key = value` a line, as in a settings file; with `showsOrigin`, where each came from behind it.
    package static func text(_ origins: [SettingOrigin], showsOrigin: Bool) -> String {
        let lines = origins.map { entry in
            let value = entry.value.map { quoted($0) } ?? "(not set)"
            return (left: "\(entry.key) = \(value)", right: entry.origin)
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
                            "variable": .string(entry.variable),
                        ]
                    )
                }
            )
        )
    }

    /// The table of the README, group by group.
    package static func markdown() -> String {
        SettingTable.groups.map { group in
            let rows = group.definitions.map { definition in
                "| \(names(of: definition)) | \(definition.defaultText.map { "`\($0)`" } ?? "") | "
                    + "\(definition.help)\(definition.unit.map { " In \($0)." } ?? "") |\n"
            }
            return "### \(group.title)\n\n| Variable | Default | Meaning |\n|---|---|---|\n" + rows.joined()
        }.joined(separator: "\n")
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
