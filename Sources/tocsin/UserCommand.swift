import ArgumentParser
import Glibc
import JSON
import TocsinCore
import TocsinServer

/// The command `tocsin user add | list | disable | enable | admin | group-maker | password | link`.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Manage local users.",
        discussion: "People whose sign-in provider is elsewhere are managed there, and are not listed.",
        subcommands: [
            Add.self, List.self, Disable.self, Enable.self, Admin.self, GroupMaker.self, Password.self, Link.self,
        ]
    )

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user.",
            discussion: """
                A user works with tokens (`tocsin token create`); a password is optional and is read from a prompt \
                with --password, or from standard input with --password-stdin. An admin manages people and groups over \
                GraphQL.

                  tocsin user add alice
                  tocsin user add carol --admin
                  tocsin user add robot --service --managed-by alice
                """
        )

        @Argument(help: "The user's name.") var name: String
        @Flag(help: "Ask for a password.") var password = false
        @Flag(name: .customLong("password-stdin"), help: "Read the password from standard input.") var passwordStdin =
            false
        @Flag(help: "The user manages people and groups.") var admin = false
        @Flag(help: "The account is a program's: it has no password.") var service = false
        @Option(help: "Who looks after a service account: a user's name or id, or a group's name.") var managedBy:
            String?
        @OptionGroup var store: StoreOptions

        func validate() throws {
            guard service == (managedBy != nil) else {
                throw ValidationError("--service and --managed-by are given together.")
            }
            guard !service || !(admin || password || passwordStdin) else {
                throw ValidationError("A service account has no password and is no admin.")
            }
        }

        func run() async throws {
            let text = try password || passwordStdin ? PasswordInput.read(prompting: password) : nil
            try await OfflineStore.run(store, mayCreate: true) { tool throws(ServiceError) in
                if let managedBy {
                    let account = try await tool.people.addService(name: name, managedBy: managedBy, by: .shell)
                    return print("Added service account \(account.name).")
                }
                let account = try await tool.people.add(name: name, password: text, isAdmin: admin, by: .shell)
                print("Added \(admin ? "admin" : "user") \(account.name).")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List users: name, whether active or disabled, and what else they are."
        )

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let linked = Dictionary(grouping: try await tool.identities.all()) { $0.userID }
                for account in try await tool.accounts.accounts() {
                    print(json ? line(account, linked[account.id] ?? []) : row(account))
                }
            }
        }

        private func row(_ account: Account) -> String {
            let name = Terminal.harmless(account.name)
            return "\(name)\t\(account.isDisabled ? "disabled" : "active")\(kind(of: account))"
        }

        private func kind(of account: Account) -> String {
            if account.kind == .service { return "\tservice account" }
            if account.isAdmin { return "\tadmin" }
            return account.isGroupMaker ? "\tgroup maker" : ""
        }

        private func line(_ account: Account, _ linked: [SignInIdentity]) -> String {
            var line: JSONObject = [
                "id": .string(account.id.text), "name": .string(account.name), "kind": .string(account.kind.rawValue),
                "admin": .bool(account.isAdmin), "groupMaker": .bool(account.isGroupMaker),
                "disabled": .bool(account.isDisabled),
                "createdAt": .string(account.createdAt.iso8601),
            ]
            line["lastSeenAt"] = account.lastSeenAt.map { .string($0.iso8601) }
            line["managedBy"] = account.manager.map { .string($0.text) }
            if !linked.isEmpty {
                line["identities"] = .array(
                    linked.map { ["provider": .string($0.provider), "subject": .string($0.subject)] }
                )
            }
            return JSONValue.object(line).serializedString()
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disable a user: none of their tokens is accepted any more."
        )

        @Argument(help: "The user's name.") var name: String
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                try await tool.accounts.disable(name: name)
                print("Disabled user \(name).")
            }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enable a disabled user again: their tokens are accepted until they end or are revoked."
        )

        @Argument(help: "The user's name.") var name: String
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                try await tool.accounts.enable(name: name)
                print("Enabled user \(name).")
            }
        }
    }

    struct Admin: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a user an admin, who manages people and groups; --off ends that.",
            discussion: """
                  tocsin user admin alice
                  tocsin user admin alice --off
                """
        )

        @Argument(help: "The user's name or id.") var name: String
        @Flag(help: "The user is no admin any more, even the last one.") var off = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let account = try await tool.people.set(UserReference(name), isAdmin: !off, by: .shell)
                print("User \(account.name) is \(account.isAdmin ? "an admin" : "no admin").")
            }
        }
    }

    struct GroupMaker: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "group-maker",
            abstract: "Let a user make groups and manage those; --off ends that, and the groups stay.",
            discussion: """
                Names of groups that a rule of the model file or a setting names are kept for admins.

                  tocsin user group-maker alice
                  tocsin user group-maker alice --off
                """
        )

        @Argument(help: "The user's name or id.") var name: String
        @Flag(help: "The user makes and manages no groups any more.") var off = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let account = try await tool.people.set(UserReference(name), isGroupMaker: !off, by: .shell)
                print("User \(account.name) \(account.isGroupMaker ? "may make groups" : "makes no groups").")
            }
        }
    }

    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let somebody of a sign-in provider sign in as a user; --off ends that.",
            discussion: """
                The subject is the provider's own name of the person (`sub`), never a name or an e-mail address. The \
                provider is one of the settings; that of TOCSIN_OIDC_ISSUER is called default.

                  tocsin user add alice
                  tocsin user link alice --subject 248289761001
                  tocsin user link alice --subject 248289761001 --off
                """
        )

        @Argument(help: "The user's name or id.") var name: String
        @Option(help: "The provider's id in the settings.") var provider = "default"
        @Option(help: "Who it is at the provider (sub).") var subject: String
        @Flag(help: "They sign in as the user no more; their sessions end.") var off = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let user = UserReference(name)
                if off {
                    try await tool.unlink(user, provider: provider, subject: subject)
                } else {
                    try await tool.link(user, provider: provider, subject: subject)
                }
                let there = Terminal.harmless("\(subject) of \(provider)")
                print("\(there) signs in as \(Terminal.harmless(name)) \(off ? "no more" : "from now on").")
            }
        }
    }

    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set a user's password: asked for, or read with --stdin, or made with --generate.",
            discussion: """
                A password has 10 characters to 1 KiB and is not the user's name. With --generate it is printed once.

                  tocsin user password alice --generate
                """
        )

        @Argument(help: "The user's name or id.") var name: String
        @Flag(help: "Read the password from standard input.") var stdin = false
        @Flag(help: "Make a random password and print it.") var generate = false
        @OptionGroup var store: StoreOptions

        func validate() throws {
            guard !(stdin && generate) else { throw ValidationError("Give --stdin or --generate, not both.") }
        }

        func run() async throws {
            let text = generate ? nil : try PasswordInput.read(prompting: !stdin)
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let user = UserReference(name)
                if let text {
                    let account = try await tool.people.setPassword(of: user, to: text, by: .shell)
                    print("Set the password of \(account.name).")
                } else {
                    print(try await tool.people.resetPassword(of: user, by: .shell).password)
                }
            }
        }
    }
}

/// Reads a password from a prompt without echo, or from standard input.
private enum PasswordInput {
    static func read(prompting: Bool) throws -> String {
        let text: String?
        if prompting, isatty(STDIN_FILENO) == 1 {
            text = getpass("Password: ").map { String(cString: $0) }
        } else {
            text = readLine(strippingNewline: true)
        }
        guard let text else { throw CommandFailure("No password was given.") }
        return text
    }
}
