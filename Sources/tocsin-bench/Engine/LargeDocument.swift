/// Documents of a given size, the same on every run: what clients and schemas look like, again
/// and again with other names.
enum LargeDocument {
    /// Queries, mutations, subscriptions and fragments with arguments, variables,
    /// directives, strings and comments.
    static func operations(bytes: Int) -> String {
        repeated(to: bytes) { number in
            switch number % 4 {
            case 0: query(number)
            case 1: mutation(number)
            case 2: fragment(number)
            default: subscription(number)
            }
        }
    }

    /// Objects, interfaces, unions, enums, inputs, scalars and directives with descriptions.
    static func definitions(bytes: Int) -> String {
        repeated(to: bytes) { number in
            switch number % 3 {
            case 0: objectType(number)
            case 1: inputType(number)
            default: smallTypes(number)
            }
        }
    }

    private static func repeated(to bytes: Int, _ part: (Int) -> String) -> String {
        var text = ""
        text.reserveCapacity(bytes + 2000)
        var number = 0
        while text.utf8.count < bytes {
            text += part(number) + "\n\n"
            number += 1
        }
        return text
    }

    private static func query(_ number: Int) -> String {
        """
        # Dashboard \(number): what a page asks for when it opens
        query Dashboard\(number)($id: ID!, $limit: Int = 20, $kinds: [MessageKind!] = [ALERT, NOTICE], $full: Boolean!) {
          viewer { id name email avatar(size: 64) }
          topics(ids: [$id, "topic-\(number)"], first: 5, order: {by: CREATED_AT, descending: true}) {
            id
            name
            latest: messages(limit: $limit, filter: {kinds: $kinds, after: "2026-07-\(number % 28 + 1)T12:00:00Z"}) {
              edges {
                cursor
                node {
                  ...MessageParts\(number)
                  body @include(if: $full)
                  attachments(first: 3) { url contentType size }
                }
              }
              pageInfo { hasNextPage endCursor }
            }
            ... on PrivateTopic @skip(if: $full) {
              owner { id name }
              members(role: [OWNER, READER]) { total items { id name joinedAt } }
            }
          }
          statistics(window: 3600, quantiles: [0.5, 0.95, 0.99], scale: 1.5e3) { sent failed latency }
        }
        """
    }

    private static func mutation(_ number: Int) -> String {
        #"""
        mutation Publish\#(number)($topic: ID!, $input: CreateMessageInput!, $key: String = "key-\#(number)") {
          createMessage(topicId: $topic, input: $input, idempotencyKey: $key) {
            message { id number title createdAt }
            deliverySummary { accepted failed skipped }
          }
          note: createMessage(topicId: "\#(number)", input: {title: "Disk \"sda\" is full\n", priority: \#(number % 5), tags: ["disk", "db-3"], body: """
            The disk of db-3 is at 91 %.
              Look at /var/lib first – größte Dateien zuerst.
          """}) {
            message { ...MessageParts\#(number) }
          }
        }
        """#
    }

    private static func fragment(_ number: Int) -> String {
        """
        fragment MessageParts\(number) on Message @cached(seconds: \(number % 600)) {
          id
          number
          type
          title
          createdAt
          topic { id name }
          author { ... on Person { id name } ... on Service { id endpoint(secure: true) } }
          deliveries(states: [FAILED, EXPIRED], limit: 10) { items { platform status reason attempts } }
        }
        """
    }

    private static func subscription(_ number: Int) -> String {
        """
        subscription Live\(number)($topic: ID = null, $after: String) {
          onCreateMessage(topicId: $topic, after: $after, filter: {title: {contains: "disk"}, priority: {ge: \(number % 5)}}) {
            number
            cursor
            title
            body
          }
        }
        """
    }

    private static func objectType(_ number: Int) -> String {
        #"""
        """
        A message of service \#(number).
        It is durable when it has been answered.
        """
        type Message\#(number) implements Node & Timestamped @model @auth(rules: [{allow: owner, field: "owner"}]) {
          id: ID!
          "Dense within its topic."
          number: Int!
          title: String!
          body(format: TextFormat = PLAIN, limit: Int = 1000): String
          tags: [String!]!
          attachments(first: Int = 10, after: String): [Attachment\#(number)!]
          oldTitle: String @deprecated(reason: "Use `title`.")
        }

        type Attachment\#(number) { url: String! contentType: String size: Int }
        """#
    }

    private static func inputType(_ number: Int) -> String {
        """
        "What createMessage takes."
        input CreateMessage\(number)Input {
          title: String!
          body: String = ""
          priority: Int = \(number % 5)
          tags: [String!] = ["disk", "service-\(number)"]
          window: WindowInput = {start: 0.5, end: 24.0, days: [MONDAY, FRIDAY]}
        }

        extend type Mutation {
          createMessage\(number)(input: CreateMessage\(number)Input!, dryRun: Boolean = false): Message
        }
        """
    }

    private static func smallTypes(_ number: Int) -> String {
        """
        union Target\(number) = Person | Service | Topic

        "How urgent a message is."
        enum Priority\(number) {
          "Nobody is woken."
          LOW
          NORMAL
          HIGH @deprecated
        }

        scalar Instant\(number) @specifiedBy(url: "https://example.com/instant/\(number)")

        interface Owned\(number) implements Node {
          id: ID!
          owner: Person!
        }

        directive @limit\(number)(perMinute: Int! = 60, burst: Int) repeatable on FIELD_DEFINITION | OBJECT
        """
    }
}
