import Foundation
import JSON

/// The folder of documents and data that our engine and its peers read alike
/// (`scripts/peers/README.md`).
struct EngineDocuments {
    static let largeOperationsFile = "large-operations.graphql"
    static let largeSchemaFile = "large-schema.graphql"
    private static let largeBytes = 1_100_000

    let folder: URL

    /// The folder at a path, filled before.
    init(folder: URL) {
        self.folder = folder
    }

    /// A new folder in the system's temporary one, filled.
    init() throws {
        folder = try .makeTemporaryFolder("engine")
        try write("schema.graphql", Self.schema)
        try write("query.graphql", Self.query)
        try write("introspection.graphql", Self.introspection)
        try write("data.json", EngineData(rows: 200).json.serializedString())
        for rows in [20, 200] {
            let variables: JSONValue = ["id": .string(EngineData.topicID), "limit": .int(Int64(rows))]
            try write("variables-\(rows).json", variables.serializedString())
        }
        try write(Self.largeOperationsFile, LargeDocument.operations(bytes: Self.largeBytes))
        try write(Self.largeSchemaFile, LargeDocument.definitions(bytes: Self.largeBytes))
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    private static let schema = """
        "Where messages are published."
        type Query {
          topic(id: ID!): Topic
          topics(ids: [ID!]!, first: Int = 10): [Topic!]!
          message(id: ID!): Message
        }

        interface Node {
          id: ID!
        }

        "A named stream of messages."
        type Topic implements Node {
          id: ID!
          name: String!
          description: String
          messages(limit: Int = 20, filter: MessageFilter): [Message!]!
        }

        "What was published."
        type Message implements Node {
          id: ID!
          number: Int!
          type: Int
          title: String!
          body: String
          createdAt: String!
          kind: MessageKind
          topic: Topic
        }

        enum MessageKind {
          ALERT
          NOTICE
          RESOLVED
        }

        input MessageFilter {
          kind: MessageKind
          title: String
          after: String
        }

        type Mutation {
          createMessage(topicID: ID!, title: String!, body: String, kind: MessageKind = NOTICE): Message
        }
        """

    private static let query = """
        query TopicsWithMessages($id: ID!, $limit: Int = 20) {
          topics(ids: [$id], first: 1) {
            id
            name
            messages(limit: $limit) {
              id
              number
              type
              title
              body
              createdAt
            }
          }
        }
        """

    /// What graphql-js gives for `getIntrospectionQuery()`.
    private static let introspection = """
        query IntrospectionQuery {
          __schema {
            queryType { name }
            mutationType { name }
            subscriptionType { name }
            types { ...FullType }
            directives {
              name
              description
              locations
              args { ...InputValue }
            }
          }
        }

        fragment FullType on __Type {
          kind
          name
          description
          fields(includeDeprecated: true) {
            name
            description
            args { ...InputValue }
            type { ...TypeRef }
            isDeprecated
            deprecationReason
          }
          inputFields { ...InputValue }
          interfaces { ...TypeRef }
          enumValues(includeDeprecated: true) {
            name
            description
            isDeprecated
            deprecationReason
          }
          possibleTypes { ...TypeRef }
        }

        fragment InputValue on __InputValue {
          name
          description
          type { ...TypeRef }
          defaultValue
        }

        fragment TypeRef on __Type {
          kind
          name
          ofType {
            kind
            name
            ofType {
              kind
              name
              ofType {
                kind
                name
                ofType {
                  kind
                  name
                  ofType {
                    kind
                    name
                    ofType {
                      kind
                      name
                      ofType { kind name }
                    }
                  }
                }
              }
            }
          }
        }
        """
}
