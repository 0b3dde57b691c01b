import ArgumentParser
import JSON
import TocsinClient

/// The commands `tocsin topic create | list | show | share | unshare | delete`.
struct TopicCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topic",
        abstract: "Look after your topics at a running server, and share them.",
        discussion: """
            EXAMPLES
              tocsin topic create alerts
              tocsin topic share alerts --user bob --role READER --push
              tocsin topic share alerts --group ops --role PUBLISHER --role READER
              tocsin topic show alerts
              tocsin topic unshare alerts --user bob
            """,
        subcommands: [Create.self, List.self, Show.self, Share.self, Unshare.self, Delete.self]
    )

    static let documents = [
        createDocument, listDocument, showDocument, deleteDocument, TopicCommand.grantsDocument,
        TopicCommand.shareDocument, TopicCommand.unshareDocument,
    ]

    private static let createDocument = """
        mutation CreateTopicHere($input: CreateTopicInput!) { createTopic(input: $input) { id name } }
        """
    static let listDocument = """
        query ListTopicsHere($next: String) {
          listTopics(limit: 100, nextToken: $next) { nextToken items { id name owner roles _deleted } }
        }
        """
    private static let showDocument = """
        query ShowTopic($id: ID!) { getTopic(id: $id) { id name arn owner roles lastNumber _version } }
        """
    private static let deleteDocument = """
        mutation DeleteTopicHere($input: DeleteTopicInput!) { deleteTopic(input: $input) { id } }
        """
}

extension TopicCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a topic; prints its id.")

        @Argument(help: "The topic's name.") var name: String
        @Option(help: "The topic's id, a UUID or ULID; the server makes one by default.") var id: String?
        @Flag(help: "Print the topic as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func validate() throws {
            if name.isEmpty { throw ValidationError("The name is empty. Give the topic a name.") }
        }

        func run() async throws {
            try await client.run { client in
                var input: JSONObject = ["name": .string(name)]
                if let id { input["id"] = .string(id) }
                let answer = try await client.mutate(TopicCommand.createDocument, variables: ["input": .object(input)])
                let topic = answer["createTopic"] ?? .null
                Terminal.print(json ? topic.serializedString() : Terminal.harmless(topic["id"]?.stringValue ?? ""))
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List your topics and those shared with you: id, name, your roles, owner."
        )

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                try await client.forEachItem(of: "listTopics", TopicCommand.listDocument) {
                    Terminal.print(json ? $0.serializedString() : TopicCommand.line($0))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a topic and, to who may share it, with whom it is shared.",
            discussion: """
                The first line is the topic. Each further line is a grant: its kind, the user's or group's name, its \
                roles, whether it brings pushes, and when it ends.
                """
        )

        @Argument(help: "The topic's name or id.", completion: .topicNames) var topic: String
        @Flag(help: "Print the topic with its grants as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                let id = try await client.topicID(of: .nameOrID(topic))
                let shown = try await TopicCommand.shown(id, client)
                let grants = try await TopicCommand.grants(of: id, client)
                if json {
                    var object = shown.objectValue ?? [:]
                    object["grants"] = grants.map { .array($0) } ?? .null
                    return Terminal.print(JSONValue.object(object).serializedString())
                }
                Terminal.print(TopicCommand.line(shown))
                for grant in grants ?? [] { Terminal.print(TopicCommand.line(ofGrant: grant)) }
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a topic of yours.")

        @Argument(help: "The topic's name or id.", completion: .topicNames) var topic: String
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                let id = try await client.topicID(of: .nameOrID(topic))
                let version = try await TopicCommand.shown(id, client)["_version"] ?? .null
                let input: JSONObject = ["id": .string(id), "_version": version]
                _ = try await TopicCommand.mutate(
                    client,
                    TopicCommand.deleteDocument,
                    ["input": .object(input)],
                    refusal: "\(topic) is not yours: only its owner may delete a topic."
                )
                Terminal.print("deleted \(Terminal.harmless(id))")
            }
        }
    }
}

extension TopicCommand {
    /// A topic on one line: id, name, the caller's roles, owner.
    fileprivate static func line(_ topic: JSONValue) -> String {
        let words = [
            topic["id"]?.stringValue ?? "-", topic["name"]?.stringValue ?? "", names(topic["roles"]),
            topic["owner"]?.stringValue ?? "",
        ]
        return words.map(Terminal.harmless).joined(separator: "\t")
    }

    static func names(_ roles: JSONValue?) -> String {
        let names = (roles?.arrayValue ?? []).compactMap(\.stringValue)
        return names.isEmpty ? "-" : names.joined(separator: ",")
    }

    fileprivate static func shown(_ id: String, _ client: TocsinClient) async throws -> JSONValue {
        let found = try await client.query(showDocument, variables: ["id": .string(id)])["getTopic"]
        guard let found, found != .null else {
            throw CommandFailure("There is no topic \(Terminal.harmless(id)), or it is not shared with you.")
        }
        return found
    }

    /// Sends a mutation; `refusal` says what an answer means that the caller may not.
    static func mutate(
        _ client: TocsinClient,
        _ document: String,
        _ variables: JSONObject,
        refusal: String
    ) async throws -> JSONValue {
        do throws(ClientError) {
            return try await client.mutate(document, variables: variables)
        } catch {
            guard error.code == .unauthorized else { throw error }
            throw CommandFailure(Terminal.harmless(refusal))
        }
    }
}
