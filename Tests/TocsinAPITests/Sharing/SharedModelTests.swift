import Testing
import TocsinAPI
import TocsinCore

/// Which models grants reach.
@Suite("Models that grants reach")
struct SharedModelTests {
    private static let base = """
        type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! }
        type Message @model @auth(rules: [{ allow: owner }]) {
          id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime! topicId: ID!
        }
        """

    private static func shared(_ model: String?) throws -> [String] {
        try APISchema(modelText: model).models.filter { $0.sharing != nil }.map(\.name).sorted()
    }

    @Test("grants reach topics, messages, incidents and integrations that ship, and no model of a team's own")
    func reach() throws {
        #expect(try Self.shared(nil) == ["Incident", "Integration", "Message", "Topic"])
        // A type of this name leaves the server's own out.
        let own = """
            type Integration @model @auth(rules: [{ allow: owner }]) { id: ID! topicId: ID! kind: String }
            type Note @model @auth(rules: [{ allow: owner }]) { id: ID! topicId: ID! kind: String }
            """
        let reached = try Self.shared(Self.base + "\n" + own)
        #expect(!reached.contains("Integration") && !reached.contains("Note"), "\(reached)")
        #expect(reached.contains("Topic") && reached.contains("Message"), "\(reached)")
    }
}
