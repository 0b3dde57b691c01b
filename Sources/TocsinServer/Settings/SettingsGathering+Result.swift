import TocsinAuth
import TocsinCore

extension SettingsGathering {
    /// Reads the files that settings name, and checks what is in them.
    mutating func readNamedFiles() {
        readWebhooks()
        warnOfOpenFiles()
        if let path = settings.fcm.credentialsPath {
            readGoogleCredentials(path, name: origin(of: "fcm-credentials"))
        }
        if let path = settings.signIn.jwksPath {
            let name = origin(of: "jwks-file")
            settings.signIn.jwks = read(path, name: name, isSecret: false)
            if let bytes = settings.signIn.jwks {
                do throws(KeyError) {
                    _ = try KeySet(json: bytes)
                } catch {
                    problems.append("\(name): \(path): \(error.description)")
                }
            }
        }
        if let path = settings.push.caPath {
            let name = origin(of: "push-ca-file")
            if let bytes = read(path, name: name, isSecret: false),
                !String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----")
            {
                problems.append("\(name): \(path) has no certificate in PEM.")
            }
        }
    }

    /// Warns of secrets that other users may read in files that are used all the same: the key of TLS, which many tools make
    /// so, and the settings file.
    private mutating func warnOfOpenFiles() {
        if let path = settings.server.tlsKeyPath, files.isOpenToOthers(path) {
            warnings.append(SettingsFiles.openFileSentence(path, name: origin(of: "tls-key")))
        }
        let secrets = SettingTable.all.filter(\.isSecret).map(\.key)
        if let file, file.holdsSecrets(named: secrets), files.isOpenToOthers(file.path) {
            warnings.append(
                "\(file.path) holds secrets and may be read by other users. Run: chmod 600 \(file.path)"
            )
        }
    }

    private mutating func readWebhooks() {
        guard let file, !file.webhooks.isEmpty else { return }
        var copy = self
        let reading = WebhookReading(file, allowsLoopback: settings.webhooksAllowLoopback) { path, name in
            copy.read(path, name: name, isSecret: true).map { String(decoding: $0, as: UTF8.self).trimmed }
        }
        problems = copy.problems + reading.problems
        warnings = copy.warnings
        settings.webhooks = reading.webhooks
    }

    private mutating func readGoogleCredentials(_ path: String, name: String) {
        guard let bytes = read(path, name: name, isSecret: true) else { return }
        do throws(SettingProblem) {
            let credentials = try GoogleCredentials(json: bytes)
            if let email = settings.fcm.clientEmail, email != credentials.clientEmail {
                problems.append("FCM_CLIENT_EMAIL and the file \(path) disagree. Keep one of them.")
            }
            if let key = settings.fcm.privateKey, key.contents != credentials.privateKey.trimmed {
                problems.append("FCM_PRIVATE_KEY and the file \(path) disagree. Keep one of them.")
            }
            settings.fcm.projectID = settings.fcm.projectID ?? credentials.projectID
            settings.fcm.clientEmail = credentials.clientEmail
            settings.fcm.privateKey = Secret(credentials.privateKey)
            settings.fcm.privateKeyID = credentials.privateKeyID
            settings.fcm.tokenEndpoint = settings.fcm.tokenEndpoint ?? credentials.tokenURI
        } catch {
            problems.append("\(name): the file \(path) cannot be used: \(error.text.withoutFullStop).")
        }
    }

    /// Warns of names that look like settings and are none.
    mutating func noteNamesThatMeanNothing() {
        let definitions = SettingTable.all
        let variables = Set(definitions.flatMap { [$0.variable] + $0.aliases.map(\.variable) + $0.fileVariables })
        let keys = Set(definitions.flatMap { [$0.key] + [$0.fileKey].compactMap(\.self) })
        for (variable, advice) in SettingTable.retired where environment[variable]?.isEmpty == false {
            warnings.append("\(variable) \(advice)")
        }
        let known = variables.union(SettingTable.foreignVariables).union(SettingTable.retired.map(\.variable))
        let prefixes = ["TOCSIN_", "APNS_", "FCM_", "VAPID_", "WEBPUSH_"]
        for name in environment.keys.sorted() where !known.contains(name) && prefixes.contains(where: name.hasPrefix) {
            warnings.append(
                "\(name) is not a setting and has no effect.\(NearestName.hint(for: name, among: variables))"
            )
        }
        for key in file?.values.keys.sorted() ?? [] where !keys.contains(key) {
            warnings.append(
                "\(file?.path ?? ""): \(key) is not a setting and has no effect.\(NearestName.hint(for: key, among: keys))"
            )
        }
        for flag in flags.keys.sorted() where !keys.contains(flag) && flag != SettingTable.fileFlag {
            problems.append("--\(flag) is not a setting.\(NearestName.hint(for: flag, among: keys, prefix: "--"))")
        }
    }

    /// The settings, or everything that is wrong with them.
    func result() throws(SettingsProblems) -> SettingsReading {
        let consistency = SettingsConsistency(settings)
        let found = allProblems(with: consistency)
        guard found.isEmpty else { throw SettingsProblems(problems: found) }
        return SettingsReading(
            settings: settings,
            origins: shownOrigins + appOrigins,
            warnings: warnings + consistency.warnings
        )
    }

    /// Every problem so far, and what does not fit together.
    func allProblems(with consistency: SettingsConsistency) -> [String] {
        // With values missing, whether the rest fits together says nothing.
        problems.isEmpty ? consistency.problems : problems + consistency.problems.filter(isNews)
    }

    /// Each setting that was read, as it is shown.
    var shownOrigins: [SettingOrigin] {
        origins.map { definition, origin in
            SettingOrigin(
                key: definition.key,
                variable: definition.variable,
                value: definition.text(settings),
                origin: origin
            )
        }
    }

    /// Whether no earlier problem names a setting of this one: a value that could not be used is not missing too.
    private func isNews(_ problem: String) -> Bool {
        let failed = origins.filter { entry in
            problems.contains { $0.hasPrefix(entry.origin + ":") || $0.hasPrefix(entry.origin + " and ") }
        }
        return !failed.contains { problem.contains($0.definition.variable) }
    }

    private func origin(of key: String) -> String {
        origins.first { $0.definition.key == key }?.origin ?? key
    }
}
