import JSON
import TocsinCore

extension SettingsDraft {
    private static let maximumApps = 100

    /// Reads the apps of the settings file; every problem of each is told.
    mutating func readApps() {
        guard let file, !file.apps.isEmpty else { return }
        guard file.apps.count <= Self.maximumApps else {
            problems.append("\(file.path): there are \(file.apps.count) apps; at most \(Self.maximumApps) are allowed.")
            return
        }
        for (index, value) in file.apps.enumerated() {
            var reading = AppReading(value, name: "\(file.path): apps[\(index)]", files: files)
            reading.read()
            problems += reading.problems
            warnings += reading.warnings
            appOrigins += reading.origins
            guard let app = reading.app else { continue }
            if settings.apps.contains(where: { $0.id == app.id }) {
                problems.append("\(file.path): there are two apps with the id \(app.id). Keep one of them.")
            }
            settings.apps.append(app)
        }
    }
}

/// Reads one table of `apps`: the settings of Apple's and Google's push without their
/// prefix, by the same rules.
///
/// `apns-sandbox` and `apns-production` hold what is different for one side, such as
/// a key that is tied to it.
struct AppReading {
    private typealias Part = (settings: Settings, isWhole: Bool)

    private let value: JSONValue
    private let files: SettingsFiles
    private var name: String
    private var id = ""
    private(set) var app: Settings.App?
    private(set) var problems: [String] = []
    private(set) var warnings: [String] = []
    private(set) var origins: [SettingOrigin] = []

    private static let sides: [(table: String, environment: PushEnvironment)] = [
        ("apns-sandbox", .sandbox), ("apns-production", .production),
    ]
    private static let tables = ["apns", "apns-sandbox", "apns-production", "fcm"]
    /// Shorter names that people would guess.
    private static let shortNames = [
        "key": "key-contents", "key-file": "key-contents-file", "auth-key-path": "key-contents-file",
        "topic": "bundle-id", "service-account-file": "credentials",
    ]

    init(_ value: JSONValue, name: String, files: SettingsFiles) {
        self.value = value
        self.name = name
        self.files = files
    }

    mutating func read() {
        guard case .object(let object) = value else { return problems.append("\(name) must be a table.") }
        let members = JSONObject(object.map { (Self.normalised($0.key), $0.value) })
        guard let id = checkedID(members["id"]) else { return }
        name += " (\(id))"
        self.id = id
        var app = Settings.App(id: id)
        if let flag = members["default"] {
            guard let isDefault = flag.boolValue else {
                return problems.append("\(name): default must be true or false.")
            }
            app.isDefault = isDefault
        }
        let known = ["id", "default"] + Self.tables
        for member in members where !known.contains(member.key) {
            let hint = NearestName.hint(for: member.key, among: Set(known))
            warnings.append("\(name): \(member.key) is not a setting and has no effect.\(hint)")
        }
        readApple(members, &app)
        if let table = table("fcm", in: members) {
            let part = part(table, "fcm", SettingTable.fcm)
            app.fcm = part.isWhole ? part.settings.fcm : nil
        }
        if app.apns.isEmpty, app.fcm == nil, problems.isEmpty {
            problems.append("\(name): there are no credentials. Add a table apns or fcm, or remove the app.")
        }
        self.app = app
    }

    private mutating func checkedID(_ value: JSONValue?) -> String? {
        guard let id = value?.stringValue, !id.isEmpty else {
            problems.append("\(name): id is missing. Give the name that the app's devices register with, as a text.")
            return nil
        }
        guard id.utf8.count <= 255, id.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            problems.append("\(name): id must be at most 255 bytes without spaces and control characters.")
            return nil
        }
        return id
    }

    private mutating func readApple(_ members: JSONObject, _ app: inout Settings.App) {
        var common = table("apns", in: members) ?? [:]
        let isBundleID = app.id.utf8.allSatisfy { $0 > 0x2C && $0 < 0x7B && $0 != UInt8(ascii: "/") }
        if common["bundle-id"] == nil, isBundleID { common["bundle-id"] = .string(app.id) }
        var open = Set(PushEnvironment.allCases)
        var keys: [Settings.App.AppleKey] = []
        for (name, environment) in Self.sides {
            guard let own = table(name, in: members) else { continue }
            let isKey = { (key: String) in key.hasPrefix("key-contents") }
            // A key of one's own stands in place of the common one, however that is given.
            let replacesKey = own.contains { isKey($0.key) }
            var merged = JSONObject(common.filter { !replacesKey || !isKey($0.key) }.map { ($0.key, $0.value) })
            for member in own { merged[member.key] = member.value }
            let part = part(merged, name, SettingTable.appleOfApps)
            open.remove(environment)
            guard part.isWhole else { continue }
            keys.append(Settings.App.AppleKey(settings: part.settings.apns, environments: [environment]))
        }
        let hasSides = open.count < PushEnvironment.allCases.count
        // Beside tables for single sides the common one may hold just what they share.
        let isUsed = members["apns"] != nil && !open.isEmpty && (!hasSides || common["key-id"] != nil)
        if isUsed {
            let part = part(common, "apns", SettingTable.appleOfApps)
            if part.isWhole {
                keys.insert(Settings.App.AppleKey(settings: part.settings.apns, environments: open), at: 0)
            }
        }
        app.apns = keys
    }

    /// A table's members by their full key names.
    private mutating func table(_ key: String, in members: JSONObject) -> JSONObject? {
        guard let value = members[key] else { return nil }
        guard case .object(let table) = value else {
            problems.append("\(name): \(key) must be a table.")
            return nil
        }
        return JSONObject(
            table.map { member in
                let name = Self.normalised(member.key)
                return (Self.shortNames[name] ?? name, member.value)
            }
        )
    }

    /// The settings of one table, read by the definitions of the default app's.
    private mutating func part(_ table: JSONObject, _ tableName: String, _ definitions: [SettingDefinition]) -> Part {
        let prefix = String(definitions.first?.key.prefix { $0 != "-" } ?? "") + "-"
        let file = SettingsFile(path: "\(name): \(tableName)", members: table, prefix: prefix)
        var draft = SettingsDraft(flags: [:], environment: [:], files: files)
        draft.file = file
        draft.problems = file.problems
        for definition in definitions { draft.read(definition) }
        draft.readNamedFiles()
        let keys = Set(definitions.flatMap { [$0.key] + [$0.fileKey].compactMap(\.self) })
        for key in file.values.keys.sorted() where !keys.contains(key) {
            let hint = NearestName.hint(for: key, among: keys)
            draft.warnings.append("\(file.path): \(key) is not a setting and has no effect.\(hint)")
        }
        let consistency = SettingsConsistency(draft.settings)
        let found = draft.allProblems(with: consistency)
        problems += found.map { worded($0, of: file.path, definitions) }
        warnings += (draft.warnings + consistency.warnings).map { worded($0, of: file.path, definitions) }
        origins += draft.shownOrigins.filter { $0.origin != "default" }.map { origin in
            SettingOrigin(
                key: "apps.\(id).\(tableName).\(origin.key.dropFirst(prefix.count))",
                variable: "",
                value: origin.value,
                origin: "file"
            )
        }
        let isConfigured = draft.settings.apns.isConfigured || draft.settings.fcm.isConfigured
        if found.isEmpty, !isConfigured { problems.append("\(file.path): there is nothing in it.") }
        return (draft.settings, found.isEmpty && isConfigured)
    }

    /// A sentence about variables as one about this table's keys.
    private func worded(_ sentence: String, of path: String, _ definitions: [SettingDefinition]) -> String {
        var text = sentence
        let names = definitions.flatMap { definition in
            let key = definition.key.drop { $0 != "-" }.dropFirst()
            return ([definition.variable] + definition.aliases.map(\.variable)).map { ($0, String(key)) }
                + definition.fileVariables.map { ($0, "key-file") }
        }
        for (variable, key) in names.sorted(by: { $0.0.count > $1.0.count }) {
            text = text.replacing(variable, with: key)
        }
        return text.hasPrefix(path) ? text : "\(path): \(text)"
    }

    private static func normalised(_ key: String) -> String {
        key.map { $0 == "_" ? "-" : String($0) }.joined().lowercased()
    }
}
