/// The work of one reading: values found, problems and warnings met on the way.
struct SettingsGathering {
    /// A value as text, under the name by which it was given.
    private struct Candidate {
        let name: String
        let value: String
    }

    let flags: [String: String]
    let environment: [String: String]
    let files: SettingsFiles
    var file: SettingsFile?
    var settings = Settings()
    var origins: [(definition: SettingDefinition, origin: String)] = []
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
        do throws(SettingsFiles.Failure) {
            let file = SettingsFile(path: path, contents: try files.read(path))
            problems += file.problems
            self.file = file
        } catch {
            problems.append("The settings file \(path) cannot be used: \(error.reason).")
        }
    }

    /// Takes the value of the highest level that has one.
    mutating func read(_ definition: SettingDefinition) {
        for candidates in [flagCandidates(definition), variableCandidates(definition), fileCandidates(definition)] {
            guard let first = candidates.first else { continue }
            origins.append((definition, first.name))
            if let other = candidates.first(where: { $0.value != first.value }) {
                problems.append(
                    "\(first.name) and \(other.name) are two names of one setting and disagree. Keep one of them."
                )
            } else {
                apply(first, to: definition)
            }
            return
        }
        origins.append((definition, "default"))
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
        return found.compactMap(\.self)
    }

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
        guard value.isEmpty else { return Candidate(name: name, value: value) }
        problems.append("\(name): the file \(path) is empty.")
        return nil
    }

    /// The contents of a file that a setting names; what is wrong with it becomes a problem.
    mutating func read(_ path: String, name: String, isSecret: Bool) -> [UInt8]? {
        do throws(SettingsFiles.Failure) {
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
