import Foundation
import GraphQL
import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinStore

/// What the server tells of its schema by introspection, beside what Amplify's transformer makes of
/// the same model.
@Suite("The schema beside Amplify's")
struct AmplifySchemaTests {
    private static let introspection = """
        query {
          __schema {
            queryType { name } mutationType { name } subscriptionType { name }
            types {
              kind name
              fields(includeDeprecated: true) { name args { name type { ...Type } defaultValue } type { ...Type } }
              inputFields { name type { ...Type } defaultValue }
              enumValues(includeDeprecated: true) { name }
            }
          }
        }
        fragment Type on __Type {
          kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
        }
        """

    /// What the server answers to any caller's introspection, of whatever schema it is given.
    private func introspected(_ model: String? = nil) async throws -> JSONValue {
        let api = try await APIHarness(model: model)
        let response = try await api.run(Self.introspection, style: .appSync)
        await api.store.close()
        #expect(response["errors"] == nil, "\(response.serializedString())")
        return try #require(response["data"]?["__schema"])
    }

    private static func text(_ name: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Conformance")
        return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    private static func amplify() throws -> Schema { try Schema(sdl: text("amplify-schema.graphql")) }

    /// One line for each field, argument, input member and enum value of a schema.
    private func lines(_ schema: Schema) -> Set<String> {
        var lines: Set<String> = []
        for type in schema.types where !type.isIntrospection {
            lines.insert("\(type.kind.rawValue) \(type.name)")
            for field in type.fields {
                lines.insert("\(type.name).\(field.name): \(field.type)")
                for argument in field.arguments {
                    lines.insert("\(type.name).\(field.name)(\(argument.name): \(argument.type))")
                }
            }
            for field in type.inputFields { lines.insert("\(type.name).\(field.name): \(field.type)") }
            for value in type.enumValues { lines.insert("\(type.name).\(value.name)") }
        }
        return lines
    }

    /// The same of an introspection's answer.
    private func lines(_ schema: JSONValue) -> Set<String> {
        var lines: Set<String> = []
        for type in schema["types"]?.arrayValue ?? [] {
            let name = type.text("name")
            guard !name.hasPrefix("__") else { continue }
            lines.insert("\(type.text("kind")) \(name)")
            for field in type["fields"]?.arrayValue ?? [] {
                lines.insert("\(name).\(field.text("name")): \(field.typeText)")
                for argument in field["args"]?.arrayValue ?? [] {
                    lines.insert("\(name).\(field.text("name"))(\(argument.text("name")): \(argument.typeText))")
                }
            }
            for field in type["inputFields"]?.arrayValue ?? [] {
                lines.insert("\(name).\(field.text("name")): \(field.typeText)")
            }
            for value in type["enumValues"]?.arrayValue ?? [] { lines.insert("\(name).\(value.text("name"))") }
        }
        return lines
    }

    @Test("introspection has all that Amplify's schema has, but for the topic's ARN, which may be left out")
    func complete() async throws {
        let amplify = lines(try Self.amplify())
        #expect(amplify.count > 300)
        for model in [nil, try Self.text("cases/models/seed.graphql")] {
            let missing = amplify.subtracting(lines(try await introspected(model)))
            #expect(missing == ["CreateTopicInput.arn: String!"])
        }
    }

    @Test("introspection names the roots, and no argument or member has a default of its own")
    func roots() async throws {
        let schema = try await introspected()
        for (root, name) in [
            ("queryType", "Query"), ("mutationType", "Mutation"), ("subscriptionType", "Subscription"),
        ] {
            #expect(schema[root]?["name"] == .string(name))
        }
        let known = Set(try Self.amplify().types.map(\.name))
        for type in schema["types"]?.arrayValue ?? [] where known.contains(type.text("name")) {
            // Amplify's members are written without defaults; ours beside them may have some.
            for field in type["inputFields"]?.arrayValue ?? [] {
                #expect(field["defaultValue"] == .null, "\(type.text("name")).\(field.text("name"))")
            }
        }
    }

    @Test("introspection adds nothing but Tocsin's own optional part")
    func noMore() async throws {
        let amplify = try Self.amplify()
        let added = lines(try await introspected()).subtracting(lines(amplify))
        let known = Set(amplify.types.map(\.name))
        let toKnownTypes = added.filter { line in
            known.contains(String(line.split { !$0.isLetter }.first ?? ""))
        }
        let own = Self.own.flatMap { type, fields in fields.map { "\(type).\($0)" } }
        let inputs = [
            "CreateMessageInput.", "CreateTopicInput.", "UpdateTopicInput.", "ModelMessageFilterInput.incident",
            "ModelSubscriptionMessageFilterInput.incident", "ModelMessageFilterInput.category",
            "ModelSubscriptionMessageFilterInput.category",
        ]
        let others = toKnownTypes.filter { line in
            !own.contains(where: line.hasPrefix) && !line.hasPrefix("Message.")
                && !inputs.contains(where: line.hasPrefix)
        }
        #expect(others.isEmpty, "\(others.sorted())")
        let required = added.filter { line in inputs.contains(where: line.hasPrefix) && line.hasSuffix("!") }
        #expect(required.isEmpty)
    }

    /// What the files of `schema/` beside the model add to the roots, and what is optional in it
    /// for Amplify's clients.
    private static let own: [String: [String]] = {
        var fields = [
            "CreateTopicInput": ["arn: String"], "Subscription": ["onCreateMessage(topicId", "onCreateMessage(after"],
        ]
        for text in (try? Self.ownSchema()) ?? [] {
            guard let document = try? parse(text, limits: .unlimited) else { return fields }
            for case .objectType(let type) in document.definitions
            where type.directives.contains(where: { $0.name == "model" }) {
                // The models that ship beside the team's file.
                fields["Query", default: []] += ["get", "list", "sync"].map { $0 + type.name }
                fields["Query", default: []] += ["incidentsBy", "integrationsBy", "monitorsBy"]
                fields["Mutation", default: []] += ["create", "update", "delete"].map { $0 + type.name }
                fields["Subscription", default: []] += ["onCreate", "onUpdate", "onDelete"].map { $0 + type.name }
            }
            for case .objectTypeExtension(let type) in document.definitions where type.name != "Message" {
                fields[type.name, default: []] += type.fields.map(\.name)
            }
        }
        return fields
    }()

    private static func ownSchema() throws -> [String] {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try ["tocsin", "people", "incidents", "integrations", "monitors", "oncall"].map { name in
            try String(contentsOf: package.appending(path: "schema/\(name).graphql"), encoding: .utf8)
        }
    }
}

extension JSONValue {
    fileprivate func text(_ member: String) -> String { self[member]?.stringValue ?? "" }

    /// The member `type` as SDL writes it.
    fileprivate var typeText: String { self["type"].map(Self.typeText) ?? "" }

    private static func typeText(_ type: JSONValue) -> String {
        switch type["kind"]?.stringValue {
        case "NON_NULL": typeText(type["ofType"] ?? .null) + "!"
        case "LIST": "[" + typeText(type["ofType"] ?? .null) + "]"
        default: type["name"]?.stringValue ?? "?"
        }
    }
}
