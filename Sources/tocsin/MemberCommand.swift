import ArgumentParser
import JSON
import TocsinCore
import TocsinServer

/// The command `tocsin member list | remove`.
struct MemberCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "member",
        abstract: "Look after the members of topics: whose devices get their pushes.",
        subcommands: [List.self, Remove.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the members of a topic: user's id, name, whether they want pushes, since when."
        )

        @Argument(help: "The topic's id, or its name if no other topic has it.") var topic: String
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                try await tool.pushes.eachMember(of: topic) { page in
                    for member in page { print(json ? line(member.membership, member.userName) : row(member)) }
                }
            }
        }

        private func row(_ member: PushAdministration.Member) -> String {
            let membership = member.membership
            return [
                Terminal.harmless(membership.userID.text), Terminal.harmless(member.userName ?? ""),
                membership.push ? "push" : "muted", membership.createdAt.iso8601,
            ].joined(separator: "\t")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a member from a topic: its pushes to them stop, also those that wait.",
            discussion: """
                Who may still read the topic can join it again. What was on its way ends with the reason LEFT_TOPIC.

                  tocsin member remove alerts alice
                """
        )

        @Argument(help: "The topic's id, or its name if no other topic has it.") var topic: String
        @Argument(help: "A local user's name, or a user's id.") var user: String
        @Flag(help: "The membership that was, as a JSON object.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let membership = try await tool.pushes.removeMember(user, from: topic)
                print(json ? line(membership, nil) : "Removed \(user) from \(topic).")
            }
        }
    }
}

private func line(_ membership: Membership, _ name: String?) -> String {
    var line: JSONObject = [
        "topicId": .string(membership.topicID.text), "userId": .string(membership.userID.text),
    ]
    if let name { line["user"] = .string(name) }
    line["push"] = .bool(membership.push)
    line["createdAt"] = .string(membership.createdAt.iso8601)
    return JSONValue.object(line).serializedString()
}
