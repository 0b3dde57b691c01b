package import JSON

/// One setting: its names, its documentation, and how its text becomes a field of `Settings`.
///
/// From these reading, `tocsin settings`, docs/settings.md and the manual page are made.
package struct SettingDefinition: Sendable {
    /// Another variable for the same setting.
    package struct Alias: Sendable, Hashable {
        /// The other variable's name.
        package let variable: String
        /// What to set instead; nil: as good as the setting's own name.
        package let replacement: String?
        /// `true` means `false` in the setting's own words.
        let isInverse: Bool
    }

    /// The name in a settings file, and after `--` the flag: words in lower case with hyphens.
    package let key: String
    /// The environment variable.
    package private(set) var variable: String
    /// Further variables for it, from older versions and other programs.
    package private(set) var aliases: [Alias] = []
    /// Variables that name a file with the value; for secrets only.
    package private(set) var fileVariables: [String] = []
    /// The unit of its number, in the plural; nil: a count, or no number.
    package private(set) var unit: String?
    /// One sentence.
    package let help: String
    /// Whether its value must not be shown.
    package private(set) var isSecret = false
    /// Whether the value is yes or no, so that the flag may stand without one.
    package private(set) var isFlag = false
    /// Whether SIGHUP takes a changed value; others need a restart.
    package private(set) var reloads = false
    /// Puts a text into its field, or says why it cannot.
    let apply: @Sendable (String, inout Settings) -> SettingProblem?
    /// The field as text, secrets masked; nil: not set.
    let text: @Sendable (Settings) -> String?
    /// Copies its field from one to another.
    let copyField: @Sendable (_ from: Settings, _ to: inout Settings) -> Void
    /// Copies what was read from the file that it names; nil: it names none, or nothing is kept.
    private var copyContents: (@Sendable (_ from: Settings, _ to: inout Settings) -> Void)?

    /// Keys that begin with these have variables without `TOCSIN_`.
    static let ownPrefixes = ["apns-", "fcm-", "vapid-", "webpush-"]

    /// `--key`.
    package var flag: String { "--" + key }
    /// The default as text; nil: none.
    package var defaultText: String? { text(Settings()) }
    /// The key and flag that name a file with the value; for secrets only.
    package var fileKey: String? { isSecret ? key + "-file" : nil }

    init(
        _ key: String,
        _ help: String,
        copy: @escaping @Sendable (_ from: Settings, _ to: inout Settings) -> Void,
        apply: @escaping @Sendable (String, inout Settings) -> SettingProblem?,
        text: @escaping @Sendable (Settings) -> String?
    ) {
        self.key = key
        self.help = help
        copyField = copy
        self.apply = apply
        self.text = text
        let name = String(key.map { $0 == "-" ? "_" : $0 }).uppercased()
        variable = Self.ownPrefixes.contains(where: key.hasPrefix) ? name : "TOCSIN_" + name
    }

    /// The same with another variable than the one that follows from the key.
    func variable(_ name: String) -> SettingDefinition {
        changed { $0.variable = name }
    }

    /// The same with one more variable; with `instead`, a deprecated one.
    func alias(_ name: String, instead: String? = nil, isInverse: Bool = false) -> SettingDefinition {
        changed { $0.aliases.append(Alias(variable: name, replacement: instead, isInverse: isInverse)) }
    }

    /// The same, counted in a unit.
    func unit(_ name: String) -> SettingDefinition {
        changed { $0.unit = name }
    }

    /// The same as a yes or no.
    func asFlag() -> SettingDefinition {
        changed { $0.isFlag = true }
    }

    /// The same, masked wherever it is shown, which may be read from a file named by
    /// `VARIABLE_FILE` or one of these.
    func secret(fileVariables names: [String] = []) -> SettingDefinition {
        changed {
            $0.isSecret = true
            $0.fileVariables = names + [$0.variable + "_FILE"]
        }
    }

    /// The same, taken from the file again at SIGHUP.
    func reloading() -> SettingDefinition {
        changed { $0.reloads = true }
    }

    /// The same, with one more field that is read from the file which it names.
    func reading<Value>(into field: SettingField<Value>) -> SettingDefinition {
        changed { $0.copyContents = Self.copying(field) }
    }

    /// Copies its field, and what was read from the file that it names.
    func copy(_ from: Settings, _ to: inout Settings) {
        copyField(from, &to)
        copyContents?(from, &to)
    }

    /// Whether the text by which the field is shown means the field, so that nothing is hidden.
    func isWhole(_ text: String, in settings: Settings) -> Bool {
        var (read, back) = (Settings(), settings)
        guard apply(text, &read) == nil else { return false }
        copyField(read, &back)
        return back == settings
    }

    /// Whether both have the same value of it.
    func isAlike(in one: Settings, _ other: Settings) -> Bool {
        var changed = one
        copy(other, &changed)
        return changed == one
    }

    private func changed(_ change: (inout SettingDefinition) -> Void) -> SettingDefinition {
        var copy = self
        change(&copy)
        return copy
    }
}

/// Why a text cannot be a setting's value, and what to write.
struct SettingProblem: Error, ExpressibleByStringInterpolation {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    init(stringLiteral text: String) {
        self.text = text
    }
}

/// Everything that is wrong with the settings, so that it can be mended in one go.
package struct SettingsProblems: Error, Sendable, Hashable, CustomStringConvertible {
    /// Sentences, each with where the value came from and what to do.
    package let problems: [String]
    /// What else is to be said: a mistyped name, which means nothing, may be the reason.
    package let warnings: [String]

    /// These problems, one sentence each.
    package init(problems: [String], warnings: [String] = []) {
        self.problems = problems
        self.warnings = warnings
    }

    /// `ok`, `problems` and `warnings`.
    package var json: JSONValue {
        [
            "ok": .bool(problems.isEmpty), "problems": .array(problems.map { .string($0) }),
            "warnings": .array(warnings.map { .string($0) }),
        ]
    }

    /// One problem a line under a heading, then the warnings.
    package var description: String {
        let heading = problems.count == 1 ? "A setting is wrong:" : "\(problems.count) settings are wrong:"
        let indented = problems.map { "  - " + $0.replacing("\n", with: "\n    ") }
        return ([heading] + indented + warnings.map { "warning: " + $0 }).joined(separator: "\n")
    }
}
