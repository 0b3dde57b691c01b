import GraphQL
import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinStore

@Suite("Sizes of lists inside records")
struct ListSizeTests {
    private static func model(_ directive: String) -> String {
        """
        type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! }
        type Message @model @auth(rules: [{ allow: owner }]) {
          id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime! topicId: ID!
        }
        type Policy @model @auth(rules: [{ allow: owner }]) { id: ID! steps: [Step!] \(directive) }
        type Step { targets: [Target!] \(directive) }
        type Target { hours: [Hours!] \(directive) }
        type Hours { day: String from: String }
        """
    }

    private static let document = """
        mutation { createPolicy(input: { id: "p" }) { id steps { targets { hours { day from } } } } }
        """

    @Test("what is taken to be short costs little, what says nothing is too much")
    func costs() async throws {
        let sized = try await APIHarness(model: Self.model("@listSize(assumedSize: 20)"))
        let answer = try await sized.run(Self.document, as: APIHarness.identity("ada"))
        #expect(answer["data"]?["createPolicy"]?["id"] == "p", "\(answer)")
        await sized.store.close()
        let unsized = try await APIHarness(model: Self.model(""))
        let refused = try await unsized.run(Self.document, as: APIHarness.identity("ada"))
        #expect(refused["errors"]?[0]?["extensions"]?["cost"] != nil, "\(refused)")
        await unsized.store.close()
    }

    @Test(
        "it stands on lists of objects inside records alone, and says a number",
        arguments: [
            "few: String @listSize(assumedSize: 20)", "few: [String] @listSize(assumedSize: 20)",
            "few: [Step] @listSize(assumedSize: 0)", "few: [Step] @listSize",
        ]
    )
    func refusals(field: String) throws {
        let text = Self.model("") + "\ntype Other @model @auth(rules: [{ allow: owner }]) { id: ID! \(field) }"
        let problems = try #require(throws: SchemaProblems.self) { try APISchema(modelText: text) }.problems
        #expect(problems.contains { $0.message.contains("@listSize(assumedSize: 20), from 1 to 1000") }, "\(problems)")
    }
}
