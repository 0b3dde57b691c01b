import JSON
import TOMLKit

/// The values of a settings file by key: TOML, or JSON when the name ends in `.json` or the text begins with a brace.
///
/// Tables join their names to those of their members: `key-id` under `[apns]` is `apns-key-id`. Underscores count as
/// hyphens and lists as comma lists.
struct SettingsFile {
    let path: String
    private(set) var values: [String: String] = [:]
    /// The tables under `webhooks`, for `WebhookReading`.
    private(set) var webhooks: [JSONValue] = []
    /// The tables under `apps`, each for `AppReading`.
    private(set) var apps: [JSONValue] = []
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

    /// Whether it has the value of one of these settings, a webhook's secret or an app's private key.
    func holdsSecrets(named keys: [String]) -> Bool {
        // A database's address is one only where it has a user and perhaps a password.
        keys.contains { key in values[key].map { key != "database" || $0.contains("@") } ?? false }
            || webhooks.contains { $0["secret"] != nil }
            || apps.contains { $0.serializedString().contains("PRIVATE KEY") }
    }

    private mutating func add(_ value: JSONValue, under prefix: String) throws(SettingProblem) {
        guard case .object(let members) = value else { throw "it must hold names and values" }
        for member in members {
            let name = prefix + member.key.map { $0 == "_" ? "-" : String($0) }.joined().lowercased()
            if name == Self.appsKey || name == Self.webhooksKey {
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

    private static func parsed(_ contents: [UInt8], path: String) throws(SettingProblem) -> JSONValue {
        guard let text = String(validating: contents, as: UTF8.self) else { throw "it is not UTF-8" }
        if path.hasSuffix(".json") || text.first(where: { !$0.isWhitespace }) == "{" {
            return try json(text)
        }
        let table: TOMLTable
        do {
            table = try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            throw SettingProblem("it is not TOML: \(error.description) (\(error.source.begin.debugDescription))")
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
