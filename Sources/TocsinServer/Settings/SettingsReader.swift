import JSON

/// Reads settings from flags, environment and file, in this order of
/// precedence, and checks them all.
package enum SettingsReader {
    /// The settings and where each came from.
    ///
    /// `flags` are by name without hyphens in front; `config` names the settings file, as
    /// `TOCSIN_CONFIG` does. Throws every problem at once. Empty values count as not given.
    package static func read(
        flags: [String: String],
        environment: [String: String],
        files: SettingsFiles
    ) throws(SettingsProblems) -> SettingsReading {
        let draft = draft(flags: flags, environment: environment, files: files)
        let (reading, problems) = draft.result
        guard problems.isEmpty else { throw SettingsProblems(problems: problems, warnings: reading.warnings) }
        return reading
    }

    /// The settings as far as they can be read, with everything that is wrong, and with what the
    /// start would find wrong in the files that they name.
    ///
    /// Starts nothing, and makes no file.
    package static func check(
        flags: [String: String],
        environment: [String: String],
        files: SettingsFiles
    ) -> SettingsProblems {
        let draft = draft(flags: flags, environment: environment, files: files)
        let (reading, problems) = draft.result
        // Without the file nobody knows what it names.
        guard !draft.lacksFile else { return SettingsProblems(problems: problems, warnings: reading.warnings) }
        let found = SettingsCheck.result(of: reading.settings)
        return SettingsProblems(problems: problems + found.problems, warnings: reading.warnings + found.warnings)
    }

    private static func draft(
        flags: [String: String],
        environment: [String: String],
        files: SettingsFiles
    ) -> SettingsDraft {
        var draft = SettingsDraft(flags: flags, environment: environment, files: files)
        draft.readFile()
        for definition in SettingTable.all { draft.read(definition) }
        draft.readNamedFiles()
        draft.readApps()
        draft.readOIDC()
        draft.noteNamesThatMeanNothing()
        return draft
    }
}

/// Settings, and what is to be said about them.
package struct SettingsReading: Sendable {
    /// The settings as they hold.
    package let settings: Settings
    /// One for each setting, in the table's order; then those of single apps.
    package let origins: [SettingOrigin]
    /// Sentences to log at start.
    package let warnings: [String]
    /// The tables of the settings file that are no single settings, in its order.
    package var tables: [SettingsFileTable] = []
}

/// A table such as `[[apps]]` as it stands in a settings file; it may hold secrets.
package struct SettingsFileTable: Sendable {
    /// What the list is called: `apps`, `webhooks` or `oidc`.
    let list: String
    let value: JSONValue
}

/// Where a setting's value came from.
package struct SettingOrigin: Sendable, Hashable {
    /// The setting's key in a settings file.
    package let key: String
    /// Empty for settings that stand in the file only.
    package let variable: String
    /// Secrets masked; nil: not set.
    package let value: String?
    /// Whether `value` only says that there is a secret, or leaves one out.
    package var isMasked: Bool { !isWhole || value?.contains(Secret.mask) == true }
    /// `--port`, `TOCSIN_PORT`, `tocsin.toml: port`, or `default`.
    package let origin: String
    /// Whether `value` says all.
    var isWhole = true
    /// The file that a secret was read from.
    var path: String?
    /// Whether SIGHUP takes a changed value.
    var reloads = false
}

/// The work of one reading: values found, problems and warnings met on the way.
struct SettingsDraft {
    /// A value as text, under the name by which it was given.
    private struct Candidate {
        let name: String
        let value: String
        /// The file that it was read from, for a secret.
        var path: String?
    }

    let flags: [String: String]
    let environment: [String: String]
    let files: SettingsFiles
    var file: SettingsFile?
    var settings = Settings()
    var origins: [(definition: SettingDefinition, origin: String, path: String?)] = []
    /// Whether there is a settings file that cannot be read.
    private(set) var lacksFile = false
    var problems: [String] = []
    var warnings: [String] = []
    /// Of the settings of single apps.
    var appOrigins: [SettingOrigin] = []

    init(flags: [String: String], environment: [String: String], files: SettingsFiles) {
        self.flags = flags
        self.environment = environment
        self.files = files
    }

    mutating func readFile() {
        guard let path = flags[SettingTable.fileFlag] ?? environment[SettingTable.fileVariable], !path.isEmpty else {
            return
        }
        do throws(SystemFile.Failure) {
            let file = SettingsFile(path: path, contents: try files.read(path))
            problems += file.problems
            self.file = file
            // What is no TOML holds no values, and all of them would seem to be missing.
            lacksFile = file.values.isEmpty && !file.problems.isEmpty
        } catch {
            lacksFile = true
            problems.append("The settings file \(path) cannot be used: \(error.reason).")
        }
    }

    /// Takes the value of the highest level that has one.
    mutating func read(_ definition: SettingDefinition) {
        for candidates in [flagCandidates(definition), variableCandidates(definition), fileCandidates(definition)] {
            guard let first = candidates.first else { continue }
            origins.append((definition, first.name, first.path))
            if let other = candidates.first(where: { $0.value != first.value }) {
                problems.append(
                    "\(first.name) and \(other.name) are two names of one setting and disagree. Keep one of them."
                )
            } else {
                apply(first, to: definition)
            }
            return
        }
        origins.append((definition, "default", nil))
    }

    private mutating func apply(_ candidate: Candidate, to definition: SettingDefinition) {
        let isPlain = !candidate.value.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard definition.isSecret || isPlain else {
            problems.append("\(candidate.name): the value has control characters, such as line breaks. Remove them.")
            return
        }
        guard let problem = definition.apply(candidate.value, &settings) else { return }
        let isShown = !definition.isSecret && !candidate.value.contains("@")
        let value = isShown ? "\"\(candidate.value.prefix(100))\"" : "the value"
        problems.append("\(candidate.name): \(value) cannot be used: \(problem.text.withoutFullStop).")
    }

    private mutating func flagCandidates(_ definition: SettingDefinition) -> [Candidate] {
        var found = [candidate(flags[definition.key], definition, name: definition.flag)]
        if let key = definition.fileKey { found.append(contents(of: flags[key], name: "--" + key)) }
        return found.compactMap(\.self)
    }

    private mutating func variableCandidates(_ definition: SettingDefinition) -> [Candidate] {
        var found = [candidate(environment[definition.variable], definition, name: definition.variable)]
        for alias in definition.aliases {
            let value = candidate(environment[alias.variable], definition, name: alias.variable)
            if value != nil, let replacement = alias.replacement {
                warnings.append("\(alias.variable) is deprecated; set \(replacement).")
            }
            found.append(alias.isInverse ? value.map(Self.inverse) : value)
        }
        for variable in definition.fileVariables {
            found.append(contents(of: environment[variable], name: variable))
        }
        if let path = credential(definition) {
            found.append(contents(of: path, name: "the credential \(definition.variable)"))
        }
        return found.compactMap(\.self)
    }

    /// A secret that the service manager hands over in a file of the variable's name
    /// (systemd's `LoadCredential=`): it is one more `VARIABLE_FILE`.
    private func credential(_ definition: SettingDefinition) -> String? {
        guard definition.isSecret, let folder = environment[Self.credentialsVariable], folder.hasPrefix("/") else {
            return nil
        }
        let path = folder + "/" + definition.variable
        return files.exists(path) ? path : nil
    }

    private static let credentialsVariable = "CREDENTIALS_DIRECTORY"

    private mutating func fileCandidates(_ definition: SettingDefinition) -> [Candidate] {
        guard let file else { return [] }
        let prefix = file.path + ": "
        var found = [candidate(file.values[definition.key], definition, name: prefix + definition.key)]
        if let key = definition.fileKey { found.append(contents(of: file.values[key], name: prefix + key)) }
        return found.compactMap(\.self)
    }

    private func candidate(_ text: String?, _ definition: SettingDefinition, name: String) -> Candidate? {
        guard let value = text?.trimmed, !value.isEmpty else { return nil }
        guard definition.isFlag, let truth = SettingDefinition.truth(value) else {
            return Candidate(name: name, value: value)
        }
        return Candidate(name: name, value: String(truth))
    }

    private static func inverse(_ candidate: Candidate) -> Candidate {
        guard let truth = SettingDefinition.truth(candidate.value) else { return candidate }
        return Candidate(name: candidate.name, value: String(!truth))
    }

    /// The contents of a secret's file, white space at its ends left out.
    private mutating func contents(of path: String?, name: String) -> Candidate? {
        guard let path = path?.trimmed, !path.isEmpty, let bytes = read(path, name: name, isSecret: true) else {
            return nil
        }
        let value = String(decoding: bytes, as: UTF8.self).trimmed
        guard value.isEmpty else { return Candidate(name: name, value: value, path: path) }
        problems.append("\(name): the file \(path) is empty.")
        return nil
    }

    /// The contents of a file that a setting names; what is wrong with it becomes a problem.
    mutating func read(_ path: String, name: String, isSecret: Bool) -> [UInt8]? {
        do throws(SystemFile.Failure) {
            let bytes = try files.read(path)
            if isSecret, files.isOpenToOthers(path) {
                let sentence = SettingsFiles.openFileSentence(path, name: name)
                if files.isInContainer {
                    warnings.append(sentence)
                } else {
                    problems.append(sentence)
                }
            }
            return bytes
        } catch {
            problems.append("\(name): the file \(path) cannot be used: \(error.reason).")
            return nil
        }
    }
}

extension String {
    /// The text as a part of a longer sentence.
    var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension SettingsDraft {
    /// Warns of names that look like settings and are none.
    mutating func noteNamesThatMeanNothing() {
        let definitions = SettingTable.all
        let variables = Set(definitions.flatMap { [$0.variable] + $0.aliases.map(\.variable) + $0.fileVariables })
        let keys = Set(definitions.flatMap { [$0.key] + [$0.fileKey].compactMap(\.self) })
        for (variable, advice) in SettingTable.retired where environment[variable]?.isEmpty == false {
            warnings.append("\(variable) \(advice)")
        }
        noteGorush()
        let known = variables.union(SettingTable.foreignVariables).union(SettingTable.retired.map(\.variable))
        let prefixes = ["TOCSIN_", "APNS_", "FCM_", "VAPID_", "WEBPUSH_"]
        for name in environment.keys.sorted() where !known.contains(name) && prefixes.contains(where: name.hasPrefix) {
            warnings.append(
                "\(name) is not a setting and has no effect.\(NearestName.hint(for: name, among: variables))"
            )
        }
        for key in file?.values.keys.sorted() ?? [] where !keys.contains(key) {
            warnings.append(
                "\(file?.path ?? ""): \(key) is not a setting and has no effect.\(Self.hint(for: key, among: keys))"
            )
        }
        for flag in flags.keys.sorted() where !keys.contains(flag) && flag != SettingTable.fileFlag {
            problems.append("--\(flag) is not a setting.\(Self.hint(for: flag, among: keys, prefix: "--"))")
        }
    }

    /// Warns once of all variables of Gorush, whose place the server may take.
    private mutating func noteGorush() {
        let found = environment.keys.filter { $0.hasPrefix("GORUSH_") && environment[$0]?.isEmpty == false }.sorted()
        guard !found.isEmpty else { return }
        warnings.append(
            "\(found.joined(separator: ", ")) \(found.count == 1 ? "has" : "have") no effect: Tocsin sends to Apple and Google "
                + "itself. What to set in place of Gorush's variables is in docs/from-gorush.md."
        )
    }

    /// The settings as far as they could be read, and everything that is wrong with them.
    var result: (reading: SettingsReading, problems: [String]) {
        let consistency = SettingsConsistency(settings)
        let reading = SettingsReading(
            settings: settings,
            origins: shownOrigins + appOrigins,
            warnings: warnings + consistency.warnings,
            tables: file?.tables ?? []
        )
        return (reading, allProblems(with: consistency))
    }

    /// Every problem so far, and what does not fit together.
    func allProblems(with consistency: SettingsConsistency) -> [String] {
        // With values missing, whether the rest fits together says nothing.
        problems.isEmpty ? consistency.problems : problems + consistency.problems.filter(isNews)
    }

    /// Each setting that was read, as it is shown.
    var shownOrigins: [SettingOrigin] {
        origins.map { definition, origin, path in
            let value = definition.text(settings)
            return SettingOrigin(
                key: definition.key,
                variable: definition.variable,
                value: value,
                origin: origin,
                isWhole: value.map { definition.isWhole($0, in: settings) } ?? true,
                path: path,
                reloads: definition.reloads
            )
        }
    }

    /// The key whose variable has this name, as `database` for `database-url`; else the nearest.
    private static func hint(for key: String, among keys: Set<String>, prefix: String = "") -> String {
        let variable = String(key.uppercased().map { $0 == "-" ? "_" : $0 })
        guard let meant = SettingTable.all.first(where: { $0.variable == "TOCSIN_" + variable }) else {
            return NearestName.hint(for: key, among: keys, prefix: prefix)
        }
        return " Did you mean \(prefix)\(meant.key)?"
    }

    /// Whether no earlier problem names a setting of this one: a value that could not be
    /// used is not missing too.
    private func isNews(_ problem: String) -> Bool {
        let failed = origins.filter { entry in
            problems.contains { $0.hasPrefix(entry.origin + ":") || $0.hasPrefix(entry.origin + " and ") }
        }
        return !failed.contains { problem.contains($0.definition.variable) }
    }

    func origin(of key: String) -> String {
        origins.first { $0.definition.key == key }?.origin ?? key
    }
}

/// Finds the name somebody may have meant.
enum NearestName {
    /// ` Did you mean X?`, or nothing when no name is near.
    static func hint(for name: String, among names: Set<String>, prefix: String = "") -> String {
        let allowed = max(2, name.count / 4)
        let nearest = names.map { (name: $0, distance: distance(name, $0)) }
            .filter { $0.distance <= allowed }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        return nearest.map { " Did you mean \(prefix)\($0.name)?" } ?? ""
    }

    /// How many characters must be added, removed or replaced to make one of
    /// the other (Levenshtein).
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, byte) in left.utf8.prefix(200).enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
