import ArgumentParser
import JSON
import TocsinCore
import TocsinServer

/// The command `tocsin group create | list | show | add | remove | delete`.
struct GroupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group",
        abstract: "Manage groups of local users.",
        discussion: """
            A group counts for the rules of the model file that allow groups, and can be granted topics. A change is in \
            force within a second, also at a server that runs.

              tocsin group create oncall
              tocsin group add oncall alice
            """,
        subcommands: [Create.self, List.self, Show.self, Add.self, Remove.self, Delete.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a group without members.")

        @Argument(help: "The group's name: 1 to 64 printable characters, unique.") var name: String
        @Option(help: "What people say of it.") var description: String?
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let group = try await tool.groups.add(name: name, description: description, by: .shell)
                print("Made group \(Terminal.harmless(group.name)).")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List groups: name, what people say of it, and who made it unless a command did."
        )

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                try await eachPage(name: \Group.name) { after throws(ServiceError) in
                    let page = try await tool.groups.groups(after: after, limit: pageSize, by: .shell)
                    let makers = json ? [:] : try await tool.makers(of: page.groups)
                    for group in page.groups { print(json ? line(group) : row(group, makers)) }
                    return page.hasMore ? page.groups.last : nil
                }
            }
        }

        private func row(_ group: Group, _ makers: [UserID: String]) -> String {
            var words = [group.name, group.description ?? ""]
            if let maker = group.createdBy { words.append(makers[maker] ?? maker.text) }
            return words.map { Terminal.harmless($0) }.joined(separator: "\t")
        }

        private func line(_ group: Group) -> String {
            var line: JSONObject = ["id": .string(group.id.text), "name": .string(group.name)]
            line["description"] = group.description.map { .string($0) }
            line["maker"] = group.createdBy.map { .string($0.text) }
            line["createdAt"] = .string(group.createdAt.iso8601)
            return JSONValue.object(line).serializedString()
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the members of a group: name, and whether active or disabled.",
            discussion: "The first line says who made the group, unless a command did."
        )

        @Argument(help: "The group's name.") var name: String
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let reference = GroupReference(name: name)
                guard let group = try await tool.groups.group(reference, by: .shell) else { throw reference.unknown }
                if !json, let maker = group.createdBy {
                    let name = try await tool.makers(of: [group])[maker] ?? maker.text
                    print("Made by \(Terminal.harmless(name)).")
                }
                try await eachPage(name: \Account.id.text) { after throws(ServiceError) in
                    let page = try await tool.groups.members(
                        of: group.id,
                        after: UserID(after),
                        limit: pageSize,
                        by: .shell
                    )
                    for member in page.accounts { print(json ? line(member) : row(member)) }
                    return page.hasMore ? page.accounts.last : nil
                }
            }
        }

        private func row(_ member: Account) -> String {
            Terminal.harmless(member.name) + "\t" + (member.isDisabled ? "disabled" : "active")
        }

        private func line(_ member: Account) -> String {
            JSONValue.object([
                "id": .string(member.id.text), "name": .string(member.name), "disabled": .bool(member.isDisabled),
            ]).serializedString()
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a user a member of a group.")

        @Argument(help: "The group's name.") var name: String
        @Argument(help: "The user's name or id.") var user: String
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let (group, isNew) = try await tool.groups.add(
                    UserReference(user),
                    to: GroupReference(name: name),
                    by: .shell
                )
                let name = Terminal.harmless(group.name)
                print(isNew ? "Added \(user) to group \(name)." : "\(user) is in group \(name) already.")
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a user's membership of a group, and what it gave them."
        )

        @Argument(help: "The group's name.") var name: String
        @Argument(help: "The user's name or id.") var user: String
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let (group, wasMember) = try await tool.groups.remove(
                    UserReference(user),
                    from: GroupReference(name: name),
                    by: .shell
                )
                let name = Terminal.harmless(group.name)
                print(wasMember ? "Removed \(user) from group \(name)." : "\(user) is not in group \(name).")
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a group; its members lose what it gave them."
        )

        @Argument(help: "The group's name.") var name: String
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let group = try await tool.groups.remove(GroupReference(name: name), by: .shell)
                print("Removed group \(Terminal.harmless(group.name)).")
            }
        }
    }
}

extension OfflineStore {
    /// The names of local users who made these groups, by id.
    fileprivate func makers(of groups: [Group]) async throws(ServiceError) -> [UserID: String] {
        var names: [UserID: String] = [:]
        for id in Set(groups.compactMap(\.createdBy)) {
            names[id] = try await people.account(id: id, name: nil, by: .shell)?.name
        }
        return names
    }
}

/// Rows that are read at once.
private let pageSize = 500

/// Asks for pages until one has nothing behind it; `name` says where the next begins.
private func eachPage<Row>(
    name: (Row) -> String,
    _ page: (_ after: String) async throws(ServiceError) -> Row?
) async throws(ServiceError) {
    var after = ""
    while let last = try await page(after) { after = name(last) }
}
