package import Encodings
import JSON
package import TocsinCore

/// What a row of the model `Integration` says.
package struct IntegrationRecord: Sendable {
    /// What the service of incidents and the receivers go by.
    package var integration: Integration
    /// Whether it is in use.
    package var isEnabled: Bool
    /// From where it may be posted to; empty: from anywhere.
    package var networks: [AddressNetwork]
    /// Requests in a minute.
    package var ratePerMinute: Int
    /// The shipped receiver of a TEMPLATE.
    package var receiver: String?
    /// The template of a TEMPLATE that has its own, as JSON.
    package var template: String?
    /// The ARNs of topics whose subscriptions are confirmed.
    package var snsTopics: [String]

    /// Reads a row; nil where it is none that a server of ours has written.
    package init?(_ record: Record) {
        guard let kind = record["kind"].text.flatMap(Integration.Kind.init(rawValue:)),
            let topic = record["topicId"].text
        else { return nil }
        var integration = Integration(
            id: record.id,
            owner: record.owner ?? "",
            name: record["name"].text ?? "",
            kind: kind,
            topicID: TopicID(topic)
        )
        if let grouping = record["grouping"].text.flatMap(Integration.Grouping.init(rawValue:)) {
            integration.grouping = grouping
        }
        func number(_ name: String) -> Int? { record[name].int.map { Int($0) } }
        func flag(_ name: String) -> Bool? { if case .bool(let flag) = record[name] { flag } else { nil } }
        integration.defaultPriority = number("defaultPriority") ?? integration.defaultPriority
        integration.severityLabel = record["severityLabel"].text ?? integration.severityLabel
        integration.severityWords = Self.words(record["severityWords"])
        integration.allowsHTTPActions = flag("allowHttpActions") ?? false
        integration.reopenSeconds = number("reopenSeconds") ?? integration.reopenSeconds
        integration.resolveAfterSeconds = number("resolveAfterSeconds") ?? 0
        if let loudness = record["notifyResolved"].text.flatMap(Integration.Loudness.init(rawValue:)) {
            integration.notifyResolved = loudness
        }
        integration.isResolvedByHand = flag("manualResolve") ?? false
        integration.watchdogs = Self.watchdogs(record["watchdogs"]) ?? []
        integration.routes = (try? IntegrationRoute.list(record["routes"])) ?? []
        snsTopics = Self.texts(record["snsTopics"])
        self.integration = integration
        isEnabled = flag("enabled") ?? true
        networks = Self.texts(record["allowedAddresses"]).compactMap(AddressNetwork.init)
        ratePerMinute = number("ratePerMinute") ?? IntegrationHook.usualRatePerMinute
        receiver = record["receiver"].text
        template = Self.json(record["template"])
    }

    /// The alerts that are pings; nil where one of them means nothing.
    static func watchdogs(_ value: FieldValue) -> [Watchdog]? {
        guard value != .null else { return [] }
        var watchdogs: [Watchdog] = []
        for item in IntegrationHook.parsed(value)?.arrayValue ?? [.null] {
            let match = item["match"]
            let labels = match?.objectValue ?? match?.stringValue.flatMap { try? JSONParser.parse($0) }?.objectValue
            guard let labels, let monitor = item["monitorId"]?.stringValue, !labels.isEmpty,
                labels.allSatisfy({ $0.value.stringValue != nil })
            else { return nil }
            let texts = labels.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
            watchdogs.append(Watchdog(labels: texts, monitorID: monitor))
        }
        return watchdogs
    }

    /// The priorities of words, in small letters.
    private static func words(_ value: FieldValue) -> [String: Int] {
        var words: [String: Int] = [:]
        for member in IntegrationHook.parsed(value)?.objectValue ?? [:] {
            words[member.key.lowercased()] = member.value.intValue.map { Int($0) }
        }
        return words
    }

    /// The members of a stored list that are texts.
    static func texts(_ value: FieldValue) -> [String] {
        guard case .json(let text) = value else { return [] }
        return (try? JSONParser.parse(text))?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    private static func json(_ value: FieldValue) -> String? {
        switch value {
        case .text(let text), .json(let text): text
        default: nil
        }
    }
}
