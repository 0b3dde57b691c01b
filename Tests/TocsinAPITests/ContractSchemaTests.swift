import Foundation
import GraphQL
import Testing
import TocsinAPI

@Suite("The schema beside the contract's")
struct ContractSchemaTests {
    /// The seed's own rules: what ships leaves out updating and deleting messages, which changes no type.
    private static let ours = try? APISchema().schema

    private static func contract() throws -> Schema {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Conformance/appsync-1.1.graphql"
        )
        return try Schema(sdl: try String(contentsOf: file, encoding: .utf8))
    }

    /// One line for each field, argument, input member and enum value.
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

    @Test("has all that the contract lists, but for the topic's ARN, which may be left out")
    func complete() throws {
        let missing = lines(try Self.contract()).subtracting(lines(try #require(Self.ours)))
        #expect(missing == ["CreateTopicInput.arn: String!"])
    }

    @Test("adds nothing but Tocsin's own optional part")
    func noMore() throws {
        let contract = try Self.contract()
        let added = lines(try #require(Self.ours)).subtracting(lines(contract))
        let known = Set(contract.types.map(\.name))
        let toKnownTypes = added.filter { line in
            known.contains(String(line.split { !$0.isLetter }.first ?? ""))
        }
        let own = [
            "CreateTopicInput.arn: String", "Subscription.onCreateMessage(topicId: ID)",
            "Subscription.onCreateMessage(after: String)", "Query.me", "Query.devices", "Query.memberships",
            "Mutation.registerPushToken", "Mutation.unregisterPushToken", "Mutation.subscribeToTopic",
            "Mutation.unsubscribeFromTopic", "Mutation.redriveDeliveries", "Mutation.setNotifications",
            "Query.history", "Query.notificationCategories", "Query.readState", "Mutation.markRead",
            "Mutation.sendPush",
        ]
        let others = toKnownTypes.filter { line in
            !own.contains(where: line.hasPrefix) && !line.hasPrefix("Message.")
                && !line.hasPrefix("CreateMessageInput.")
        }
        #expect(others.isEmpty, "\(others.sorted())")
        let required = added.filter { $0.hasPrefix("CreateMessageInput.") && $0.hasSuffix("!") }
        #expect(required.isEmpty)
    }
}
