import JSON

/// Makes a request of every root field, from what introspection says of the schema.
struct SchemaWalk {
    /// The ids that requests aim at.
    struct Aim {
        var topic: String
        var message: String
        var schedule: String
        var token: String
        var user: String
        var pushToken: String
        var incident: String
    }

    /// A root field.
    struct Field {
        var name: String
        /// `query`, `mutation` or `subscription`.
        var kind: String
        fileprivate var value: JSONValue
    }

    private let types: [String: JSONValue]
    let fields: [Field]

    init(_ api: APIHarness) async throws {
        let answer = try await api.run(Self.introspection)
        var types: [String: JSONValue] = [:]
        let schema = answer["data"]?["__schema"]
        for type in schema?["types"]?.arrayValue ?? [] { types[type["name"]?.stringValue ?? ""] = type }
        self.types = types
        fields = ["query", "mutation", "subscription"].flatMap { kind -> [Field] in
            let root = schema?[kind + "Type"]?["name"]?.stringValue ?? ""
            return (types[root]?["fields"]?.arrayValue ?? []).map {
                Field(name: $0["name"]?.stringValue ?? "", kind: kind, value: $0)
            }
        }
    }

    /// The least that can be asked of a field that aims at these.
    func least(of field: Field, at aim: Aim) -> String {
        let arguments = arguments(field.value["args"], of: field.name, aim, givesAll: false)
        let members = types[named(field.value["type"])]?["fields"]?.arrayValue
        let hasItems = members?.contains { $0["name"] == "items" } ?? false
        let selection = members == nil ? "" : hasItems ? " { items { __typename } }" : " { __typename }"
        return "\(field.kind) { \(field.name)\(arguments.isEmpty ? "" : "(\(arguments))")\(selection) }"
    }

    /// Requests of a field that aim at these, with all that can be selected to a depth; with and
    /// without the arguments that need not be given.
    func documents(of field: Field, at aim: Aim, depth: Int = 3) -> [String] {
        let selection = selection(field.value["type"], depth: depth)
        return [false, true].map { givesAll in
            let arguments = arguments(field.value["args"], of: field.name, aim, givesAll: givesAll)
            return "\(field.kind) { \(field.name)\(arguments.isEmpty ? "" : "(\(arguments))")\(selection) }"
        }
    }

    private func named(_ type: JSONValue?) -> String {
        guard let inner = type?["ofType"], !inner.isNull else { return type?["name"]?.stringValue ?? "" }
        return named(inner)
    }

    /// All leaves, and objects down to a depth whose arguments need not be given.
    private func selection(_ type: JSONValue?, depth: Int) -> String {
        guard let fields = types[named(type)]?["fields"]?.arrayValue else { return "" }
        let texts = fields.compactMap { field -> String? in
            guard !(field["args"]?.arrayValue ?? []).contains(where: { $0["type"]?["kind"] == "NON_NULL" }) else {
                return nil
            }
            let isLeaf = types[named(field["type"])]?["fields"]?.arrayValue == nil
            guard isLeaf || depth > 1 else { return nil }
            let inner = isLeaf ? "" : selection(field["type"], depth: depth - 1)
            return isLeaf || !inner.isEmpty ? (field["name"]?.stringValue ?? "") + inner : nil
        }
        return texts.isEmpty ? "" : " { " + texts.joined(separator: " ") + " }"
    }

    private func arguments(_ list: JSONValue?, of field: String, _ aim: Aim, givesAll: Bool) -> String {
        (list?.arrayValue ?? []).compactMap { argument -> String? in
            let name = argument["name"]?.stringValue ?? ""
            guard let value = value(name, argument["type"], of: field, aim, givesAll) else { return nil }
            return "\(name): \(value)"
        }
        .joined(separator: ", ")
    }

    /// A value for an argument or an input's member; nil leaves it out.
    private func value(
        _ name: String,
        _ type: JSONValue?,
        of field: String,
        _ aim: Aim,
        _ givesAll: Bool
    ) -> String? {
        let isRequired = type?["kind"] == "NON_NULL"
        let inner = isRequired ? type?["ofType"] : type
        if let id = id(name, of: field, aim) { return inner?["kind"] == "LIST" ? "[\(id)]" : id }
        if field == "getTopicByName", name == "name" { return #""own""# }
        guard isRequired || name == "minutes" || (givesAll && name == "filter") else { return nil }
        if inner?["kind"] == "LIST" {
            return self.value(name, inner?["ofType"], of: field, aim, true).map { "[\($0)]" }
        }
        let typeName = named(inner)
        if let members = types[typeName]?["inputFields"]?.arrayValue {
            if name == "filter" { return filter(members) }
            let texts = members.compactMap { member -> String? in
                let name = member["name"]?.stringValue ?? ""
                return self.value(name, member["type"], of: field, aim, false).map { "\(name): \($0)" }
            }
            return "{ " + texts.joined(separator: ", ") + " }"
        }
        if let words = types[typeName]?["enumValues"]?.arrayValue { return words.first?["name"]?.stringValue }
        return Self.samples[name] ?? Self.samplesOfTypes[typeName] ?? #""x""#
    }

    /// A question about what the caller may not know.
    private func filter(_ members: [JSONValue]) -> String? {
        let names = members.compactMap { $0["name"]?.stringValue }
        guard let name = ["title", "name"].first(where: names.contains) else { return nil }
        return "{ \(name): { beginsWith: \"secret\" } }"
    }

    private func id(_ name: String, of field: String, _ aim: Aim) -> String? {
        switch name {
        case "topicId": return "\"\(aim.topic)\""
        case "incidentId": return "\"\(aim.incident)\""
        case "messageId": return "\"\(aim.message)\""
        case "userId", "user": return field == "sendPush" && name == "user" ? nil : "\"\(aim.user)\""
        case "token": return "\"\(aim.pushToken)\""
        case "id":
            if field == "createTopic" || field == "createMessage" || field == "createScheduledMessage" { return nil }
            if field.contains("Incident") { return "\"\(aim.incident)\"" }
            if field.contains("Schedule") { return "\"\(aim.schedule)\"" }
            if field.contains("Token") { return "\"\(aim.token)\"" }
            return field.contains("Topic") && !field.contains("Message") ? "\"\(aim.topic)\"" : "\"\(aim.message)\""
        default: return nil
        }
    }

    /// Arguments that mean something by their name.
    private static let samples = [
        "scopes": #""read""#, "platform": #""ios""#, "name": #""probe""#, "title": #""probe""#, "body": #""b""#,
        "minutes": "0", "_version": "1",
    ]
    private static let samplesOfTypes = [
        "Int": "1", "Float": "0.5", "Boolean": "true", "AWSDateTime": #""2030-01-01T00:00:00Z""#,
        "AWSJSON": #""{}""#, "AWSURL": #""https://example.com""#, "AWSTime": #""10:00""#,
    ]

    private static let introspection = """
        query { __schema { queryType { name } mutationType { name } subscriptionType { name } types { kind name
          fields { name args { name type { ...T } } type { ...T } }
          inputFields { name type { ...T } } enumValues { name } } } }
        fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
        """
}
