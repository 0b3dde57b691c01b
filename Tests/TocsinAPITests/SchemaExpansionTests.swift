import Foundation
import GraphQL
import TocsinAPI
import TocsinCore
import Testing

@Suite("The model file and what it expands to")
struct SchemaExpansionTests {
    private static let messageModel = """
        type Message @model @auth(rules: [{ allow: owner }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID! @index(name: "byTopic", sortKeyFields: ["createdAt"])
        }
        """
    private static let topicModel =
        "type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! arn: String! }"

    @Test(
        "the shipped model has the operations that Amplify's clients call",
        arguments: [
            "getTopic(id: ID!): Topic",
            "listTopics(filter: ModelTopicFilterInput, limit: Int, nextToken: String): ModelTopicConnection",
            "getTopicByName(name: String!, sortDirection: ModelSortDirection, filter: ModelTopicFilterInput, limit: Int, nextToken: String): ModelTopicConnection",
            "getMessageByTopicIdAndCreatedAt(topicId: ID!, createdAt: ModelStringKeyConditionInput, sortDirection: ModelSortDirection, filter: ModelMessageFilterInput, limit: Int, nextToken: String): ModelMessageConnection",
            "createMessage(input: CreateMessageInput!, condition: ModelMessageConditionInput): Message",
            "onCreateMessage(filter: ModelSubscriptionMessageFilterInput, owner: String, topicId: ID, after: String): Message",
        ]
    )
    func shippedOperations(field: String) throws {
        let lines = try APISchema().sdl.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(lines.contains(field[...]))
    }

    @Test("an index without a query field gets Amplify's default name")
    func defaultQueryField() throws {
        let schema = try APISchema(modelText: Self.topicModel + "\n" + Self.messageModel)
        #expect(
            schema.sdl.contains("messagesByTopicIdAndCreatedAt(topicId: ID!, createdAt: ModelStringKeyConditionInput")
        )
    }

    @Test("a field without a column is stored in extra, and needs no migration")
    func extraField() throws {
        let model = Self.messageModel.replacing("title: String!", with: "title: String!\n  severity: String")
        let schema = try APISchema(modelText: Self.topicModel + "\n" + model)
        let position = try #require(schema.messages.position(of: "severity"))
        #expect(schema.messages.fields[position].storage == .extra("severity"))
        #expect(schema.sdl.contains("severity: ModelStringInput"))
    }

    @Test(
        "what is not supported stops the start with its line and what to write instead",
        arguments: [
            ("type Note { id: ID! }", "Type Note has no @model"),
            ("type Note @model { id: ID! }", "has no rule"),
            ("type Note @model @auth(rules: [{ allow: groups }]) { id: ID! }", "allow: groups needs either"),
            ("type Note @model @auth(rules: [{ allow: custom }]) { id: ID! }", "write allow: owner, groups"),
            ("type Note @model @auth(rules: [{ allow: private, provider: iam }]) { id: ID! }", "provider: iam"),
            ("type Note @model @auth(rules: [{ allow: owner, groups: [\"a\"] }]) { id: ID! }", "groups has no meaning"),
            ("type Note @model @auth(rules: [{ allow: owner, operations: [fly] }]) { id: ID! }", "operation fly"),
            (
                "type Note @model @auth(rules: [{ allow: groups, groupsField: \"g\" }]) { id: ID! }",
                "groupsField names g"
            ),
            (
                "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! x: Int @default(value: \"y\") }",
                "no value of x"
            ),
            (
                "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! x: Int @mapsTo(name: \"y\") }",
                "@mapsTo is not known"
            ),
            (
                "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! x: Topic @belongsTo }",
                "no @hasOne or @hasMany"
            ),
            (
                "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! x: [Topic] @hasMany(indexName: \"no\") }",
                "names the index no"
            ),
            (
                "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! x: [Topic] @manyToMany }",
                "the model in between"
            ),
            ("type Note @model @auth(rules: [{ allow: owner }]) { a: ID @primaryKey }", "make it non-null"),
            (
                "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! a: [Int] @index(name: \"x\") }",
                "needs a single value"
            ),
            ("type Note @model @auth(rules: [{ allow: owner }]) { text: String }", "needs the field `id: ID!`"),
            (
                "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! x: Strin }",
                "The type Strin of x is not known"
            ),
            (
                "type Note @model @auth(rules: [{ allow: owner }]) { id: ID! x: Topic @hasMany }",
                "@hasMany stands on a field"
            ),
            ("type Note @model @auth(rules: [{ allow: private }]) { id: ID! owner: String }", "is the server's"),
            ("type Device @model @auth(rules: [{ allow: owner }]) { id: ID! }", "The name Device is taken"),
            ("type Query @model @auth(rules: [{ allow: owner }]) { id: ID! }", "The name Query is taken"),
            ("type Topics @model @auth(rules: [{ allow: owner }]) { id: ID! }", "the same name or plural"),
            ("interface Note { id: ID! }", "Only object types"), ("type Note {", "Syntax Error"),
        ]
    )
    func unsupported(addition: String, message: String) throws {
        let text = Self.topicModel + "\n" + Self.messageModel + "\n" + addition
        let problems = try #require(throws: SchemaProblems.self) {
            try APISchema(modelText: text, modelFile: "m.graphql")
        }
        let problem = try #require(problems.problems.first { $0.message.contains(message) })
        #expect(problem.file == "m.graphql")
        #expect(problem.line >= 10)
    }
}

@Suite("What relations, keys and rules expand to")
struct ModelExpansionTests {
    private static let schema = Result {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Conformance/cases/models")
        let texts = try ["relations", "rules", "things"].map { name in
            try String(contentsOf: folder.appending(path: "\(name).graphql"), encoding: .utf8)
        }
        let seed = try String(contentsOf: folder.appending(path: "seed.graphql"), encoding: .utf8)
        let own = texts.map { $0.replacing(seed, with: "") }
        return try APISchema(modelText: seed + own.joined(separator: "\n"))
    }

    @Test(
        "are what Amplify's transformer makes of them",
        arguments: [
            "comments(filter: ModelCommentFilterInput, sortDirection: ModelSortDirection, limit: Int, nextToken: String): ModelCommentConnection",
            "notes(rank: ModelIntKeyConditionInput, filter: ModelNoteFilterInput, sortDirection: ModelSortDirection, limit: Int, nextToken: String): ModelNoteConnection",
            "postCommentsId: ID", "postCoverId: ID", "postCommentsId: ModelIDInput",
            "postCommentsId: ModelSubscriptionIDInput",
            "getOrder(customer: ID!, placedAt: AWSDate!, number: Int!): Order",
            "listOrders(customer: ID, placedAtNumber: ModelOrderPrimaryCompositeKeyConditionInput, filter: ModelOrderFilterInput, limit: Int, nextToken: String, sortDirection: ModelSortDirection): ModelOrderConnection",
            "ordersByState(state: String!, placedAtCustomer: ModelOrderByStateCompositeKeyConditionInput, sortDirection: ModelSortDirection, filter: ModelOrderFilterInput, limit: Int, nextToken: String): ModelOrderConnection",
            "input ModelOrderPrimaryCompositeKeyConditionInput {", "input ModelOrderPrimaryCompositeKeyInput {",
            "between: [ModelOrderByStateCompositeKeyInput]", "input ModelIntKeyConditionInput {",
            "getSetting(name: String!): Setting",
            "listSettings(name: String, filter: ModelSettingFilterInput, limit: Int, nextToken: String, sortDirection: ModelSortDirection): ModelSettingConnection",
            "onCreateShared(filter: ModelSubscriptionSharedFilterInput, editors: String, author: String): Shared",
            "onCreateStaff(filter: ModelSubscriptionStaffFilterInput): Staff", "mood: ModelMoodInput",
            "mood: ModelSubscriptionStringInput", "input ModelMoodInput {", "state: String!", "state: String",
            "syncPeople(filter: ModelPersonFilterInput, limit: Int, nextToken: String, lastSync: AWSTimestamp): ModelPersonConnection",
        ]
    )
    func lines(line: String) throws {
        let lines = try Self.schema.get().sdl.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(lines.contains(line[...]))
    }

    @Test("a model without owner rule shows no owner", arguments: ["Staff", "Team", "Board", "Person"])
    func noOwner(model: String) throws {
        #expect(try Self.schema.get().schema.type(named: model)?.field(named: "owner") == nil)
    }
}
