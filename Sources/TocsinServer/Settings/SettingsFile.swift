import Glibc
import JSON
import TOMLKit
import TocsinAuth
import TocsinCore

/// The values of a settings file by key: TOML, or JSON when the name ends in `.json` or the
/// text begins with a brace.
///
/// Tables join their names to those of their members: `key-id` under `[apns]` is `apns-key-id`.
/// Underscores count as hyphens and lists as comma lists.
struct SettingsFile {
    let path: String
    private(set) var values: [String: String] = [:]
    /// The tables under `webhooks`, for `WebhookReading`.
    private(set) var webhooks: [JSONValue] = []
    /// The tables under `apps`, each for `AppReading`.
    private(set) var apps: [JSONValue] = []
    /// The tables under `oidc`, each for `OIDCReading`.
    private(set) var oidc: [JSONValue] = []
    private(set) var problems: [String] = []

    init(path: String, contents: [UInt8]) {
        self.path = path
        do throws(SettingProblem) {
            try add(Self.parsed(contents, path: path), under: "")
        } catch {
            problems.append("\(path): \(error.text).")
        }
    }

    /// A part of a settings file, under the name by which problems call it.
    init(path: String, members: JSONObject, prefix: String) {
        self.path = path
        do throws(SettingProblem) {
            try add(.object(members), under: prefix)
        } catch {
            problems.append("\(path): \(error.text).")
        }
    }

    /// All of these tables, as they stand.
    var tables: [SettingsFileTable] {
        [(Self.appsKey, apps), (Self.oidcKey, oidc), (Self.webhooksKey, webhooks)].flatMap { list, values in
            values.map { SettingsFileTable(list: list, value: $0) }
        }
    }

    /// Whether it has the value of one of these settings, a webhook's secret
    /// or an app's private key.
    func holdsSecrets(named keys: [String]) -> Bool {
        // A database's address is one only where it has a user and perhaps a password.
        keys.contains { key in values[key].map { key != "database" || $0.contains("@") } ?? false }
            || webhooks.contains { $0["secret"] != nil }
            || apps.contains { $0.serializedString().contains("PRIVATE KEY") }
            || oidc.contains { $0["client-secret"] != nil || $0["client_secret"] != nil }
    }

    private mutating func add(_ value: JSONValue, under prefix: String) throws(SettingProblem) {
        guard case .object(let members) = value else { throw "it must hold names and values" }
        for member in members {
            let name = prefix + member.key.map { $0 == "_" ? "-" : String($0) }.joined().lowercased()
            if name == Self.oidcKey, case .array(let tables) = member.value {
                oidc = tables
            } else if name == Self.appsKey || name == Self.webhooksKey {
                guard case .array(let tables) = member.value else {
                    problems.append(
                        "\(path): \(name) must be a list of tables. In TOML each begins with [[\(name)]]."
                    )
                    continue
                }
                if name == Self.appsKey { apps = tables } else { webhooks = tables }
            } else if case .object = member.value {
                try add(member.value, under: name + "-")
            } else if let text = Self.text(of: member.value) {
                if let other = values[name], other != text {
                    problems.append("\(path): \(name) is there twice, with different values. Keep one of them.")
                }
                values[name] = text
            } else {
                problems.append("\(path): \(name) must be a text, a number, true, false or a list of these.")
            }
        }
    }

    private static let webhooksKey = "webhooks"
    private static let appsKey = "apps"
    private static let oidcKey = "oidc"

    private static func parsed(_ contents: [UInt8], path: String) throws(SettingProblem) -> JSONValue {
        guard let text = String(validating: contents, as: UTF8.self) else { throw "it is not UTF-8" }
        if path.hasSuffix(".json") || text.first(where: { !$0.isWhitespace }) == "{" {
            return try json(text)
        }
        let table: TOMLTable
        do {
            table = try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            // Behind what the library was at stands what it found.
            let found = error.description.split(separator: ": ", maxSplits: 1).last ?? ""
            throw SettingProblem("it is not TOML: \(found) (\(error.source.begin.debugDescription))")
        } catch {
            throw SettingProblem("it is not TOML: \(error)")
        }
        return try json(table.convert(to: .json))
    }

    private static func json(_ text: String) throws(SettingProblem) -> JSONValue {
        do throws(JSONError) {
            return try JSONParser.parse(text)
        } catch {
            throw SettingProblem("it is not JSON: \(error)")
        }
    }

    private static func text(of value: JSONValue) -> String? {
        switch value {
        case .string(let text): return text
        case .int(let number): return String(number)
        case .double(let number): return String(number)
        case .bool(let truth): return String(truth)
        case .array(let values):
            let texts = values.compactMap { $0.arrayValue == nil ? text(of: $0) : nil }
            return texts.count == values.count ? texts.joined(separator: ",") : nil
        case .null, .object: return nil
        }
    }
}

/// How files that settings name are read, and what is known of them.
package struct SettingsFiles: Sendable {
    /// The contents of a file of at most 1 MiB.
    package var read: @Sendable (_ path: String) throws(SystemFile.Failure) -> [UInt8]
    /// Whether users other than the file's owner and group may read it.
    package var isOpenToOthers: @Sendable (_ path: String) -> Bool
    /// In a container other users do not count: mounted secrets are often readable by all.
    package var isInContainer: Bool
    /// Whether there is a file of this name.
    package var exists: @Sendable (_ path: String) -> Bool

    /// What reads files, with these answers.
    package init(
        read: @escaping @Sendable (_ path: String) throws(SystemFile.Failure) -> [UInt8],
        isOpenToOthers: @escaping @Sendable (_ path: String) -> Bool,
        isInContainer: Bool,
        exists: @escaping @Sendable (_ path: String) -> Bool = { _ in false }
    ) {
        self.read = read
        self.isOpenToOthers = isOpenToOthers
        self.isInContainer = isInContainer
        self.exists = exists
    }

    /// The files of this machine.
    package static func system(environment: [String: String]) -> SettingsFiles {
        SettingsFiles(
            read: { (path) throws(SystemFile.Failure) in try SystemFile.contents(of: path) },
            isOpenToOthers: { path in
                // Of the file itself, not of a link to it. One whose mode cannot be asked for
                // cannot be read either, which is reported elsewhere.
                var status = stat()
                return stat(path, &status) == 0 && status.st_mode & 0o004 != 0
            },
            isInContainer: environment["container"] != nil || environment["KUBERNETES_SERVICE_HOST"] != nil
                || ["/.dockerenv", "/run/.containerenv"].contains(where: SystemFile.exists),
            exists: SystemFile.exists
        )
    }

    /// What is said of a secret that others may read; `name` is the setting's.
    package static func openFileSentence(_ path: String, name: String) -> String {
        "\(name): the file \(path) may be read by other users. Run: chmod 600 \(path)"
    }
}

extension SettingsDraft {
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

    /// Warns of secrets that other users may read in files that are used all the same: the key of
    /// TLS, which many tools make so, and the settings file.
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
}

/// A service account's key file, as the Firebase console makes it.
struct GoogleCredentials {
    let projectID: String?
    let clientEmail: String
    let privateKey: String
    let privateKeyID: String?
    let tokenURI: String?

    /// Reads the file; the failure says what is missing.
    init(json contents: [UInt8]) throws(SettingProblem) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(contents)
        } catch {
            throw "it is not JSON; it must be the key file of a service account, as the Firebase console makes it"
        }
        if let kind = value["type"]?.stringValue, kind != "service_account" {
            throw SettingProblem(
                "it holds credentials of the type \(kind); the key file of a service account is needed"
            )
        }
        guard let email = value["client_email"]?.stringValue, let key = value["private_key"]?.stringValue else {
            throw "it has no client_email and private_key; it must be the key file of a service account"
        }
        if let problem = SettingRules.fcmKeyProblem(key) {
            throw SettingProblem("its private_key is wrong: " + problem.text)
        }
        if let uri = value["token_uri"]?.stringValue, let problem = SettingRules.addressProblem(uri) {
            throw SettingProblem("its token_uri is wrong: " + problem.text)
        }
        projectID = value["project_id"]?.stringValue
        clientEmail = email
        privateKey = key
        privateKeyID = value["private_key_id"]?.stringValue
        tokenURI = value["token_uri"]?.stringValue
    }
}
