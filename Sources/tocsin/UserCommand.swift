import ArgumentParser
import Glibc
import JSON
import TocsinAuth
import TocsinCore
import TocsinServer

/// The command `tocsin user add | list | disable | enable`.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Manage local users.",
        subcommands: [Add.self, List.self, Disable.self, Enable.self]
    )

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user.",
            discussion: """
                A user works with tokens (`tocsin token create`); a password is optional and is read from a prompt with
                --password, or from standard input with --password-stdin.

                  tocsin user add alice
                """
        )

        @Argument(help: "The user's name.") var name: String
        @Flag(help: "Ask for a password.") var password = false
        @Flag(name: .customLong("password-stdin"), help: "Read the password from standard input.") var passwordStdin =
            false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            let hash = try password || passwordStdin ? PasswordHash.make(PasswordInput.read(prompting: password)) : nil
            try await OfflineStore.run(store, mayCreate: true) { tool throws(ServiceError) in
                let account = try await tool.accounts.add(name: name, passwordHash: hash)
                print("Added user \(account.name).")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List users.")

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                for account in try await tool.accounts.accounts() {
                    print(json ? line(account) : "\(account.name)\t\(account.isDisabled ? "disabled" : "active")")
                }
            }
        }

        private func line(_ account: Account) -> String {
            JSONValue.object([
                "id": .string(account.id.text), "name": .string(account.name),
                "disabled": .bool(account.isDisabled), "createdAt": .string(account.createdAt.iso8601),
            ]).serializedString()
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
        guard let text, text.utf8.count >= 8 else { throw CommandFailure("A password has at least 8 characters.") }
        return text
    }
}
