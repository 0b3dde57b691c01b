import JSON
import TocsinClient

/// An incident as people name it: `alerts#42`, or its id.
struct IncidentReference {
    private enum Kind {
        case id(String)
        case number(Int64, topic: String)
    }

    private let kind: Kind
    /// As it was given.
    let text: String

    /// Reads `topic#number`; whatever has no number after its last `#` is an id.
    init(_ text: String) {
        self.text = text
        guard let split = text.lastIndex(of: "#"), split > text.startIndex,
            let number = Int64(text[text.index(after: split)...]), number > 0
        else {
            kind = .id(text)
            return
        }
        kind = .number(number, topic: String(text[..<split]))
    }

    static let documents = [byNumberDocument, byIDDocument]

    private static let byNumberDocument = """
        query IncidentByNumber($topic: ID!, $filter: ModelIncidentFilterInput, $next: String) {
          incidentsByTopicIdAndOpenedAt(
            topicId: $topic, sortDirection: DESC, filter: $filter, limit: 1000, nextToken: $next
          ) { nextToken items { id _deleted } }
        }
        """
    private static let byIDDocument = """
        query IncidentByID($id: ID!) { getIncident(id: $id) { id _deleted } }
        """

    /// The id of the incident, asked of the server; throws where there is none.
    func id(_ client: TocsinClient) async throws -> String {
        switch kind {
        case .id(let id):
            let found = try await client.query(Self.byIDDocument, variables: ["id": .string(id)])["getIncident"]
            guard let found, found != .null, found["_deleted"]?.boolValue != true else { throw unknown }
            return id
        case .number(let number, let topic):
            let topicID = try await client.topicID(of: .nameOrID(topic))
            var next = JSONValue.null
            repeat {
                let answer = try await client.query(
                    Self.byNumberDocument,
                    variables: [
                        "topic": .string(topicID), "filter": ["number": ["eq": .int(number)]], "next": next,
                    ]
                )
                let page = answer["incidentsByTopicIdAndOpenedAt"]
                let items = (page?["items"]?.arrayValue ?? []).filter { $0["_deleted"]?.boolValue != true }
                if let id = items.first?["id"]?.stringValue { return id }
                next = page?["nextToken"] ?? .null
            } while next != .null
            throw unknown
        }
    }

    private var unknown: CommandFailure {
        let hint =
            switch kind {
            case .id where !text.contains("#"): " Name it by topic and number, such as alerts#42, or by its id."
            case .id: " A number stands after the #, such as alerts#42."
            case .number: ""
            }
        return CommandFailure(
            "There is no incident \(Terminal.harmless(text)) that you may see.\(hint) `tocsin incidents --state all` "
                + "lists them."
        )
    }
}
