import ArgumentParser
import JSON
import TocsinCore
import TocsinServer

/// The command `tocsin key create | list | revoke`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage API keys: their bearers may do what rules with `allow: public` give.",
        subcommands: [Create.self, List.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new API key, alone on standard output.",
            discussion: """
                The key is shown once and not stored. Clients send it as the header x-api-key.

                  tocsin key create --name website --ttl 365d
                """
        )

        @Option(help: "What to call it in lists.") var name = "default"
        @Option(help: "How long it is good: 90s, 15m, 12h, 30d, 1y. Default: 365d.", transform: Lifetime.read)
        var ttl: Lifetime?
        @Option(help: "A network that it may be used from, such as 10.0.0.0/8. May be given several times.")
        var cidr: [String] = []
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store, mayCreate: true) { tool throws(ServiceError) in
                print(try await tool.makeKey(name: name, lifetimeSeconds: ttl?.seconds ?? 365 * 86_400, networks: cidr))
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List API keys.")

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                for key in try await tool.keys.keys() { print(json ? line(key) : row(key)) }
            }
        }

        private func row(_ key: APIKey) -> String {
            let end = key.revokedAt.map { "revoked \($0.iso8601)" } ?? "until \(key.expiresAt.iso8601)"
            let from = key.lastUsedFrom.map { " from \($0)" } ?? ""
            let use = key.lastUsedAt.map { "used \($0.iso8601)\(from)" } ?? "not used"
            return [key.id.text, key.name, end, use].joined(separator: "\t")
        }

        private func line(_ key: APIKey) -> String {
            JSONValue.object([
                "id": .string(key.id.text), "name": .string(key.name),
                "createdAt": .string(key.createdAt.iso8601), "expiresAt": .string(key.expiresAt.iso8601),
                "revokedAt": key.revokedAt.map { .string($0.iso8601) } ?? .null,
                "cidrs": .array(key.networkTexts.map { .string($0) }),
                "lastUsedAt": key.lastUsedAt.map { .string($0.iso8601) } ?? .null,
                "lastUsedFrom": key.lastUsedFrom.map { .string($0) } ?? .null,
            ]).serializedString()
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke an API key by its id (see `tocsin key list`)."
        )

        @Argument(help: "The key's id.") var id: String
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                try await tool.keys.revoke(TokenID(id))
                print("Revoked API key \(id).")
            }
        }
    }
}
