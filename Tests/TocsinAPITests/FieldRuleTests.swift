import JSON
import Testing
import TocsinCore

@Suite("Questions by a field with a rule of its own")
struct FieldRuleTests {
    /// What every model file has.
    static let shipped = """
        type Topic @model @auth(rules: [{ allow: owner }]) {
          id: ID!
          name: String! @index(name: "byName", queryField: "getTopicByName")
          arn: String!
        }
        type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID! @index(
            name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"], queryField: "getMessageByTopicIdAndCreatedAt")
        }

        """

    private static let model =
        shipped + """
            type Team @model @auth(rules: [{ allow: private }]) {
              id: ID!
              name: String
            }
            type Employee @model @auth(rules: [{ allow: private }]) {
              id: ID!
              salary: Int @auth(rules: [{ allow: groups, groups: ["admins"] }])
              nextTeamID: ID @auth(rules: [{ allow: groups, groups: ["admins"] }])
              nextTeam: Team @hasOne(fields: ["nextTeamID"])
            }
            """

    private static let admin: Identity = {
        var admin = APIHarness.identity("ada")
        admin.claims[AccessRule.groupClaim] = ["admins"]
        return admin
    }()

    @Test(
        "nothing that is asked by such a field is answered to who may not read it",
        arguments: [
            "r: getEmployee(id: \"a\") { nextTeam { name } }",
            "r: listEmployees { items { nextTeam { name } } }",
            "r: listEmployees(filter: { salary: { gt: 60 } }) { items { id } }",
            "r: listEmployees(filter: { not: { nextTeamID: { eq: \"t\" } } }) { items { id } }",
            "r: syncEmployees(filter: { salary: { gt: 60 } }) { items { id } }",
        ]
    )
    func refused(question: String) async throws {
        let api = try await APIHarness(model: Self.model)
        let made = try await api.run(
            """
            mutation {
              t: createTeam(input: { id: "t", name: "red" }) { id }
              a: createEmployee(input: { id: "a", salary: 90, nextTeamID: "t" }) { id }
            }
            """,
            as: Self.admin
        )
        #expect(made["errors"] == nil, "\(made.serializedString())")
        let denied = try await api.run("{ \(question) }")
        #expect(denied["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(denied.serializedString())")
        #expect(!denied.serializedString().contains("red"))
        let allowed = try await api.run("{ \(question) }", as: Self.admin)
        #expect(allowed["errors"] == nil, "\(allowed.serializedString())")
    }

    @Test("a condition on such a field is no question either")
    func condition() async throws {
        let api = try await APIHarness(model: Self.model)
        _ = try await api.run("mutation { createEmployee(input: { id: \"a\", salary: 90 }) { id } }", as: Self.admin)
        let update =
            "mutation { updateEmployee(input: { id: \"a\", _version: 1 }, condition: { salary: { gt: 60 } }) { id } }"
        let denied = try await api.run(update)
        #expect(denied["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(denied.serializedString())")
    }
}
