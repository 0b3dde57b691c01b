import Encodings
import JSON
package import TocsinCore

/// What an integration must be before it is written: its owner may write the topic, and what it
/// says means something.
package struct IntegrationHook: ModelHook {
    /// The model's name.
    package let model = "Integration"
    let rights: PushRights
    /// The kinds whose posts this server takes.
    private let shapes: Set<Integration.Kind>
    /// What a template must be besides; answers what is wrong with it.
    private let templateProblem: @Sendable (_ receiver: String?, _ template: String?) -> String?

    /// Requests in a minute where an integration says none.
    package static let usualRatePerMinute = 600
    /// Integrations of one owner.
    package static let maximumOfOwner = 200
    private static let maximumNameBytes = 256
    private static let maximumWords = 100
    private static let maximumNetworks = 100
    private static let maximumWatchdogs = 20
    private static let maximumRate: Int64 = 100_000
    private static let maximumSeconds: Int64 = 31 * 86_400

    /// A hook that knows who may publish where.
    package init(
        rights: PushRights,
        shapes: Set<Integration.Kind> = Set(Integration.Kind.allCases),
        templateProblem: @escaping @Sendable (_ receiver: String?, _ template: String?) -> String? = { _, _ in nil }
    ) {
        (self.rights, self.shapes, self.templateProblem) = (rights, shapes, templateProblem)
    }

    /// Checks all values, the topic, and how many there are; who shares the topic may look after it
    /// too.
    package func willCreate(
        _ input: inout RecordInput,
        _ write: HookedWrite
    ) throws(StoreError) -> ServiceError? {
        if let problem = problem({ input[$0] ?? .null }) ?? problem(ofShape: input["kind"]) {
            return .badInput(problem)
        }
        if try isFull(write) {
            return .limit("You may have at most \(Self.maximumOfOwner) integrations; delete one first.")
        }
        switch try topic(input["topicId"]?.text ?? "", write) {
        case .failure(let refusal): return refusal
        case .success(let topic):
            if let owner = topic.owner, owner != write.caller.owner,
                input["editors"] == nil || input["editors"] == .null
            {
                input["editors"] = .json(JSONValue.array([.string(owner)]).serializedString())
            }
        }
        return try refusal(ofRoutes: input["routes"] ?? .null, owner: nil, write)
    }

    /// Checks all values, and the topic where it is another: the former one's owner looks after it
    /// no more.
    package func willUpdate(
        _ record: inout Record,
        was stored: Record,
        _ write: HookedWrite
    ) throws(StoreError) -> ServiceError? {
        let changed = record
        if let problem = problem({ changed[$0] }) { return .badInput(problem) }
        if record["kind"] != stored["kind"] {
            return .badInput("kind cannot be changed: what a sender posts has one shape. Make a new integration.")
        }
        if let refusal = try refusal(ofRoutes: record["routes"], was: stored["routes"], owner: stored.owner, write) {
            return refusal
        }
        guard record["topicId"] != stored["topicId"] else { return nil }
        switch try topic(record["topicId"].text ?? "", write) {
        case .failure(let refusal): return refusal
        case .success(let topic):
            let editors = try rights.editors(of: record, was: stored, movedTo: topic, write.writer.unlocked)
            if let editors { record["editors"] = editors }
        }
        return nil
    }

    /// Whatever hangs on an integration goes with it: its keys end at once.
    ///
    /// Of a provider's people it is kept who they are: each event asks whether its owner may
    /// publish.
    package func didWrite(_ record: Record, _ write: HookedWrite) throws(StoreError) {
        guard !record.isDeleted else { return try write.writer.removeIntegrationRows(of: record.id) }
        let facts = UserFacts(of: write.caller, naming: rights.notedClaims, at: write.now)
        if let facts { try write.writer.save(facts) }
    }

    private func isFull(_ write: HookedWrite) throws(StoreError) -> Bool {
        guard let owner = write.model.position(of: "owner"), let deleted = write.model.position(of: "_deleted"),
            let id = write.model.position(of: "id")
        else { return false }
        let own = Predicate.field(owner, .isOneOf(write.caller.ownerForms.map(FieldValue.text)))
        let query = ModelQuery(
            model: write.model,
            predicate: own.and(.field(deleted, .notEqual(.bool(true)))),
            order: [ModelQuery.Order(field: id)],
            limit: Self.maximumOfOwner
        )
        return try write.writer.unlocked.records(query).count >= Self.maximumOfOwner
    }

    /// The topic, where the caller may publish to it.
    private func topic(_ id: String, _ write: HookedWrite) throws(StoreError) -> Result<Record, ServiceError> {
        let unknown = ServiceError.badInput(
            "topicId names no topic that you may publish to. An integration's messages are made in your name."
        )
        let topic = try rights.publishableTopic(id, for: write.caller, write.writer.unlocked)
        return topic.map { .success($0) } ?? .failure(unknown)
    }
}

// What values mean something.
extension IntegrationHook {
    /// What is wrong with the values of an integration, by field, and what to write; nil: nothing.
    private func problem(_ value: (String) -> FieldValue) -> String? {
        problem(ofNumbers: value) ?? problem(ofWords: value) ?? problem(ofNetworks: value) ?? problem(ofRoutes: value)
            ?? problem(ofKind: value)
    }

    private func problem(ofNumbers value: (String) -> FieldValue) -> String? {
        let ranges: [(String, ClosedRange<Int64>)] = [
            ("defaultPriority", 1...5), ("reopenSeconds", 0...Self.maximumSeconds),
            ("resolveAfterSeconds", 0...Self.maximumSeconds), ("ratePerMinute", 1...Self.maximumRate),
        ]
        for (name, range) in ranges {
            if let number = value(name).int, !range.contains(number) {
                return "\(name) must be \(range.lowerBound) to \(range.upperBound); it is \(number)."
            }
        }
        guard let name = value("name").text, !name.isEmpty else {
            return "name is empty; write what people call the integration."
        }
        guard name.utf8.count <= Self.maximumNameBytes else {
            return "name has \(name.utf8.count) bytes; at most \(Self.maximumNameBytes) are allowed."
        }
        return nil
    }

    private func problem(ofWords value: (String) -> FieldValue) -> String? {
        guard value("severityWords") != .null else { return nil }
        guard let words = Self.parsed(value("severityWords"))?.objectValue, words.count <= Self.maximumWords,
            words.allSatisfy({ (1...5).contains($0.value.intValue ?? 0) })
        else {
            return
                "severityWords must be an object of at most \(Self.maximumWords) words, each with its priority from 1 to "
                + "5, such as {\"sev1\": 5}."
        }
        return nil
    }

    private func problem(ofNetworks value: (String) -> FieldValue) -> String? {
        let texts = IntegrationRecord.texts(value("allowedAddresses"))
        guard texts.count <= Self.maximumNetworks else {
            return "allowedAddresses has \(texts.count) networks; at most \(Self.maximumNetworks) are allowed."
        }
        guard let wrong = texts.first(where: { AddressNetwork($0) == nil }) else { return nil }
        return "allowedAddresses has \(wrong.debugDescription), which is no address or network. Write 192.0.2.7, "
            + "192.0.2.0/24 or 2001:db8::/32."
    }

    /// Whether no sender could ever post to a new integration.
    private func problem(ofShape kind: FieldValue?) -> String? {
        guard let kind = kind?.text.flatMap(Integration.Kind.init(rawValue:)), !shapes.contains(kind)
        else { return nil }
        let taken = Integration.Kind.allCases.filter(shapes.contains).map(\.rawValue).joined(separator: ", ")
        return "This server takes no posts of \(kind.rawValue): TOCSIN_RECEIVER_SHAPES leaves it out. "
            + "It takes \(taken)."
    }

    private func problem(ofKind value: (String) -> FieldValue) -> String? {
        guard let watchdogs = IntegrationRecord.watchdogs(value("watchdogs")), watchdogs.count <= Self.maximumWatchdogs
        else {
            return "watchdogs must be at most \(Self.maximumWatchdogs), each with match, an object of labels such as "
                + "{\"alertname\": \"Watchdog\"}, and monitorId."
        }
        guard let kind = value("kind").text.flatMap(Integration.Kind.init(rawValue:)) else {
            let names = Integration.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            return "kind must be one of \(names)."
        }
        let (receiver, template) = (value("receiver").text, value("template"))
        let text: String? =
            switch template {
            case .text(let text), .json(let text): text
            default: nil
            }
        guard kind == .template else {
            return receiver == nil && text == nil
                ? nil
                : "receiver and template are of integrations of kind TEMPLATE; this is one of kind \(kind.rawValue)."
        }
        guard (receiver == nil) != (text == nil) else {
            return
                "An integration of kind TEMPLATE has a receiver that ships, by name, or a template of its own: one of "
                + "the two."
        }
        return templateProblem(receiver, text)
    }

    /// The JSON of a stored value; one that was written as a text holds JSON.
    static func parsed(_ value: FieldValue) -> JSONValue? {
        switch value {
        case .text(let text): return try? JSONParser.parse(text)
        case .json(let text):
            guard let json = try? JSONParser.parse(text) else { return nil }
            return json.stringValue.flatMap { try? JSONParser.parse($0) } ?? json
        default: return nil
        }
    }
}
