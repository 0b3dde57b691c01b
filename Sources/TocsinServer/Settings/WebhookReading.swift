import JSON
import TocsinAuth
package import TocsinCore

extension Settings {
    /// An address that is told of events, from the settings file alone.
    package struct Webhook: Sendable, Hashable {
        /// Its name in logs and rows; the host of its address unless given.
        package var name: String
        /// Where events are posted to: https, or http of this machine where that is allowed.
        package var url: String
        /// `whsec_` and base 64, as Standard Webhooks writes secrets, or any
        /// text of 16 bytes or more.
        package var secret: Secret
        /// The kinds of events that it is told of.
        package var types: Set<WebhookEventType>
        /// Whether it is told whole device tokens.
        package var includesTokens = false
        /// Names or ids of those who may name it in schedules of their own; `*` is everybody.
        package var scheduleUsers: Set<String> = []
        /// Names or ids of the topics of whose incidents it is told; empty: all.
        package var topics: Set<String> = []
        /// Whether it is told the texts of incidents.
        package var includesTexts = false
        /// Whether it is given links by which incidents are answered.
        package var includesActions = false
    }
}

/// Reads the tables under `[[webhooks]]` of a settings file.
struct WebhookReading {
    private(set) var webhooks: [Settings.Webhook] = []
    private(set) var problems: [String] = []
    private static let members = [
        "name", "url", "secret", "secret-file", "events", "include-tokens", "schedule-users", "topics", "include-texts",
        "include-actions",
    ]
    private static let maximumWebhooks = 100
    private static let allOfIncidents = "incident.*"
    private let path: String

    /// - Parameters:
    ///   - allowsLoopback: Whether `http://` to this machine is taken.
    ///   - secret: Reads a secret's file; what is wrong with it is reported elsewhere.
    init(_ file: SettingsFile, allowsLoopback: Bool, secret: (_ path: String, _ name: String) -> String?) {
        path = file.path
        if file.webhooks.count > Self.maximumWebhooks {
            problems.append(
                "\(path): there are \(file.webhooks.count) webhooks; at most \(Self.maximumWebhooks) are allowed."
            )
        }
        for (index, value) in file.webhooks.prefix(Self.maximumWebhooks).enumerated() {
            read(value, location: "\(path): webhooks \(index + 1)", allowsLoopback, secret)
        }
        let names = Dictionary(grouping: webhooks, by: \.name).filter { $0.value.count > 1 }.keys.sorted()
        for name in names {
            problems.append("\(path): two webhooks are called \(name). Give each a name of its own.")
        }
    }

    private mutating func read(
        _ value: JSONValue,
        location: String,
        _ allowsLoopback: Bool,
        _ secretOfFile: (_ path: String, _ name: String) -> String?
    ) {
        guard let members = value.objectValue else { return problems.append("\(location): it must be a table.") }
        var fields: [String: JSONValue] = [:]
        for member in members {
            let key = String(member.key.map { $0 == "_" ? "-" : $0 })
            fields[key] = member.value
            guard Self.members.contains(key) else {
                problems.append(
                    "\(location): \(member.key) means nothing here. Known are \(Self.members.joined(separator: ", "))."
                )
                continue
            }
        }
        let before = problems.count
        let url = address(fields["url"], location, allowsLoopback)
        let text =
            fields["secret"]?.stringValue
            ?? fields["secret-file"]?.stringValue.flatMap { secretOfFile($0, "\(location): secret-file") }
        let secret = checkedSecret(text, location)
        let types = eventTypes(fields["events"], location)
        let scheduleUsers = scheduleUsers(fields["schedule-users"], types, location)
        let topics = topics(fields["topics"], types, location)
        guard problems.count == before, let url, let secret, let types else { return }
        let name = fields["name"]?.stringValue ?? String(url.split(separator: "/").dropFirst().first ?? "webhook")
        var webhook = Settings.Webhook(name: name, url: url, secret: Secret(secret), types: types)
        webhook.includesTokens = fields["include-tokens"]?.boolValue ?? false
        webhook.scheduleUsers = scheduleUsers
        webhook.topics = topics
        webhook.includesTexts = fields["include-texts"]?.boolValue ?? false
        webhook.includesActions = fields["include-actions"]?.boolValue ?? false
        webhooks.append(webhook)
    }

    private mutating func scheduleUsers(
        _ value: JSONValue?,
        _ types: Set<WebhookEventType>?,
        _ location: String
    ) -> Set<String> {
        guard let value else { return [] }
        let names = (value.arrayValue ?? [value]).map { $0.stringValue ?? "" }
        guard names.allSatisfy({ !$0.isEmpty }) else {
            problems.append(
                "\(location): schedule-users must be a list of users' names or ids, such as [\"ada\"], or [\"*\"] for everybody."
            )
            return []
        }
        if let types, !types.contains(.scheduleDue) {
            problems.append("\(location): schedule-users needs schedule.due among the events.")
        }
        return Set(names)
    }

    private mutating func topics(
        _ value: JSONValue?,
        _ types: Set<WebhookEventType>?,
        _ location: String
    ) -> Set<String> {
        guard let value else { return [] }
        let names = (value.arrayValue ?? [value]).map { $0.stringValue ?? "" }
        guard !names.isEmpty, names.allSatisfy({ !$0.isEmpty }) else {
            problems.append("\(location): topics must be a list of topics' names or ids, such as [\"alerts\"].")
            return []
        }
        if let types, types.isDisjoint(with: WebhookEventType.ofIncidents) {
            problems.append("\(location): topics needs incident.* among the events.")
        }
        return Set(names)
    }

    private mutating func address(_ value: JSONValue?, _ location: String, _ allowsLoopback: Bool) -> String? {
        guard let url = value?.stringValue else {
            problems.append("\(location): url is missing.")
            return nil
        }
        if let problem = SettingRules.addressProblem(url) {
            problems.append("\(location): url: \(problem.text).")
            return nil
        }
        if url.hasPrefix("https://") { return url }
        let authority = url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" }
        let isLoopback = ["localhost", "127.0.0.1", "[::1]"].contains {
            authority == $0 || authority.hasPrefix($0 + ":")
        }
        guard allowsLoopback, isLoopback else {
            problems.append(
                "\(location): url must begin with https://; http:// is for this machine alone, with "
                    + "TOCSIN_WEBHOOKS_ALLOW_LOOPBACK=true."
            )
            return nil
        }
        return url
    }

    private mutating func checkedSecret(_ text: String?, _ location: String) -> String? {
        guard let text else {
            problems.append("\(location): secret is missing: write whsec_ and the output of: openssl rand -base64 32")
            return nil
        }
        do throws(KeyError) {
            _ = try HMACKey(webhookSecret: text)
            return text
        } catch {
            problems.append("\(location): secret: \(error.description)")
            return nil
        }
    }

    private mutating func eventTypes(_ value: JSONValue?, _ location: String) -> Set<WebhookEventType>? {
        let known = (WebhookEventType.allCases.map(\.rawValue) + [Self.allOfIncidents]).joined(separator: ", ")
        guard let value else { return WebhookEventType.ofUnnamed }
        let names = value.arrayValue?.map(\.stringValue) ?? [value.stringValue]
        let types = names.map { name -> Set<WebhookEventType>? in
            if name == Self.allOfIncidents { return WebhookEventType.ofIncidents }
            return name.flatMap(WebhookEventType.init(rawValue:)).map { [$0] }
        }
        guard !types.isEmpty, types.allSatisfy({ $0 != nil }) else {
            problems.append("\(location): events must be a list of some of \(known).")
            return nil
        }
        return types.compactMap(\.self).reduce(into: []) { $0.formUnion($1) }
    }
}
