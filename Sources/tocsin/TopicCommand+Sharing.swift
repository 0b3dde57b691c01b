import ArgumentParser
import JSON
import TocsinClient

/// With whom a topic is shared: exactly one of the three.
struct SubjectOptions: ParsableArguments {
    @Option(help: "A user, by name or id.") var user: String?
    @Option(help: "A group, by its name.") var group: String?
    @Flag(help: "Everybody who has signed in.") var everybody = false

    func validate() throws {
        let given = [user != nil, group != nil, everybody].filter { $0 }
        guard given.count == 1 else {
            throw ValidationError("Give one of --user NAME, --group NAME and --everybody.")
        }
    }

    /// The same as members of a GraphQL input.
    var input: JSONObject {
        if let user { return ["user": .string(user)] }
        if let group { return ["group": .string(group)] }
        return ["everybody": true]
    }

    /// Whether a grant is for whom these options name.
    func means(_ grant: JSONValue) -> Bool {
        let kind = grant["subjectKind"]?.stringValue
        let names = [grant["subject"]?.stringValue, grant["subjectName"]?.stringValue]
        if let user { return kind == "USER" && names.contains(user) }
        if let group { return kind == "GROUP" && names[0] == group }
        return kind == "SIGNED_IN"
    }

    var words: String { user ?? group.map { "the group \($0)" } ?? "everybody" }
}

extension TopicCommand {
    fileprivate static let grantFields =
        "id topicId subjectKind subject subjectName roles push expiresAt createdAt createdBy pending"

    static let grantsDocument = """
        query GrantsOfTopic($id: ID!, $next: String) {
          getTopic(id: $id) { grants(limit: 100, nextToken: $next) { nextToken items { \(grantFields) } } }
        }
        """
    static let shareDocument = """
        mutation ShareTopic($input: GrantInput!) { grantTopic(input: $input) { \(grantFields) } }
        """
    static let unshareDocument = "mutation UnshareTopic($id: ID!) { revokeGrant(id: $id) { \(grantFields) } }"

    struct Share: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Share a topic with a user, a group, or everybody who has signed in.",
            discussion: """
                READER reads the topic, follows it and may get its pushes. PUBLISHER publishes and reads nothing. \
                OWNER does both, renames the topic and shares it further; only the topic's owner gives and takes \
                OWNER. The same subject again gets the new roles in place of the old ones.

                EXAMPLES
                  tocsin topic share alerts --user bob
                  tocsin topic share alerts --user bob --push --until 2027-01-01T00:00:00Z
                  tocsin topic share alerts --group ops --role PUBLISHER --role READER

                EXIT STATUS
                  0 shared, 1 failed, 2 wrong use
                """
        )

        @Argument(help: "The topic's name or id.", completion: .topicNames) var topic: String
        @OptionGroup var subject: SubjectOptions
        @Option(help: "OWNER, PUBLISHER or READER; may be given several times. Default: READER.") var role: [String] =
            []
        @Flag(help: "They get the topic's pushes at once.") var push = false
        @Option(help: "The grant ends by itself then: a time with an offset, such as 2027-01-01T00:00:00Z.")
        var until: String?
        @Flag(help: "Print the grant as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func validate() throws {
            for role in role where !["OWNER", "PUBLISHER", "READER"].contains(role.uppercased()) {
                throw ValidationError("--role \(role) is not one of OWNER, PUBLISHER and READER.")
            }
            try MomentOption.check(until, "--until")
        }

        func run() async throws {
            try await client.run { client in
                var input = subject.input
                input["topicId"] = .string(try await client.topicID(of: .nameOrID(topic)))
                let roles = role.isEmpty ? ["READER"] : role
                input["roles"] = .array(roles.map { .string($0.uppercased()) })
                input["push"] = .bool(push)
                if let until { input["expiresAt"] = .string(until) }
                let answer = try await TopicCommand.mutate(
                    client,
                    TopicCommand.shareDocument,
                    ["input": .object(input)],
                    refusal: TopicCommand.refusal(topic)
                )
                let grant = answer["grantTopic"] ?? .null
                Terminal.print(json ? grant.serializedString() : TopicCommand.line(ofGrant: grant))
                if let group = subject.group { Terminal.remark(Terminal.harmless(Self.remark(group))) }
            }
        }

        /// What a grant does not say: which groups there are is nobody's to find out by sharing.
        private static func remark(_ group: String) -> String {
            "the grant counts for whoever is in the group \(group), now or later. Administrators see who is: "
                + "`tocsin group show`."
        }
    }

    struct Unshare: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take back what a user, a group or everybody may do with a topic.",
            discussion: """
                Reading, live feeds and pushes end at once, unless another grant gives them.

                EXAMPLE
                  tocsin topic unshare alerts --user bob
                """
        )

        @Argument(help: "The topic's name or id.", completion: .topicNames) var topic: String
        @OptionGroup var subject: SubjectOptions
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                let id = try await client.topicID(of: .nameOrID(topic))
                guard let grants = try await TopicCommand.grants(of: id, client) else {
                    throw CommandFailure(Terminal.harmless(TopicCommand.refusal(topic)))
                }
                guard let grant = grants.first(where: subject.means) else {
                    throw CommandFailure(
                        Terminal.harmless(
                            "\(topic) is not shared with \(subject.words); `tocsin topic show` lists with whom it is."
                        )
                    )
                }
                _ = try await TopicCommand.mutate(
                    client,
                    TopicCommand.unshareDocument,
                    ["id": grant["id"] ?? .null],
                    refusal: "Only the owner of \(topic) takes the role OWNER from somebody."
                )
                Terminal.print(Terminal.harmless("\(topic) is no longer shared with \(subject.words)"))
                if grant["roles"]?.arrayValue?.contains("OWNER") == true {
                    Terminal.print("Keys of its ways in go on: tocsin integration key NAME --overlap 0 makes new ones.")
                }
            }
        }
    }

    fileprivate static func refusal(_ topic: String) -> String {
        "\(topic) is not yours to share with that role: its owner shares it, and who has the role OWNER does but for that role."
    }

    /// A grant on one line: kind, name, roles, whether it brings pushes, its end.
    static func line(ofGrant grant: JSONValue) -> String {
        let subject = grant["subjectName"]?.stringValue ?? grant["subject"]?.stringValue ?? ""
        let words = [
            grant["subjectKind"]?.stringValue ?? "-", subject.isEmpty ? "-" : subject, names(grant["roles"]),
            grant["push"]?.boolValue == true ? "push" : "-", grant["expiresAt"]?.stringValue ?? "-",
        ]
        return words.map(Terminal.harmless).joined(separator: "\t")
    }

    /// The grants of a topic; nil where the caller may not share it.
    static func grants(of id: String, _ client: TocsinClient) async throws -> [JSONValue]? {
        var (grants, next): ([JSONValue], JSONValue) = ([], .null)
        repeat {
            let answer = try await client.query(grantsDocument, variables: ["id": .string(id), "next": next])
            guard let page = answer["getTopic"]?["grants"], page != .null else { return nil }
            grants += page["items"]?.arrayValue ?? []
            next = page["nextToken"] ?? .null
        } while next != .null
        return grants
    }
}
