import ArgumentParser
import JSON
import TocsinAuth
import TocsinCore
import TocsinServer

/// The command `tocsin token create | list | revoke`.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Manage the tokens of local users.",
        subcommands: [Create.self, List.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new bearer token, alone on standard output.",
            discussion: """
                The token is shown once and not stored.

                  tocsin token create --user alice --ttl 30d
                  tocsin token create --user monitoring --publish alerts
                  tocsin token create --user backend --push
                """
        )

        @Option(help: "Whose token it is.") var user: String
        @Option(help: "How long it is good: 90s, 15m, 12h, 30d, 1y.") var ttl: Lifetime = Lifetime(seconds: 30 * 86_400)
        @Option(help: "A topic of the user, by name or id: the token can only create messages in it.")
        var publish: String?
        @Flag(name: .customLong("read-only"), help: "The token can only read.") var readOnly = false
        @Flag(help: "The token can only push (sendPush), to every user of the server.") var push = false
        @OptionGroup var store: StoreOptions

        func validate() throws {
            guard [publish != nil, readOnly, push].count(where: \.self) <= 1 else {
                throw ValidationError("--publish, --read-only and --push exclude each other.")
            }
        }

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let account = try await tool.accounts.account(named: user)
                let scope = try await scope(for: account, tool)
                let token = try await tool.accounts.recordToken(
                    for: account,
                    scope: scope,
                    lifetimeSeconds: ttl.seconds
                )
                print(try tool.text(of: token, for: account))
            }
        }

        private func scope(for account: Account, _ tool: OfflineStore) async throws(ServiceError) -> Identity.Scope {
            if readOnly { return .readOnly }
            if push { return .push }
            guard let publish else { return .full }
            return .publish(topic: try await tool.topicID(publish, of: account))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List tokens.")

        @Option(help: "Only this user's.") var user: String?
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let names = Dictionary(
                    try await tool.accounts.accounts().map { ($0.id, $0.name) },
                    uniquingKeysWith: { first, _ in first }
                )
                var userID: UserID?
                if let user { userID = try await tool.accounts.account(named: user).id }
                for token in try await tool.accounts.tokens(of: userID) {
                    let name = names[token.userID] ?? token.userID.text
                    print(json ? line(token, name) : row(token, name))
                }
            }
        }

        private func row(_ token: IssuedToken, _ name: String) -> String {
            "\(token.id)\t\(name)\t\(scopeText(token.scope))\t"
                + (token.revokedAt.map { "revoked \($0.iso8601)" } ?? "until \(token.expiresAt.iso8601)")
        }

        private func line(_ token: IssuedToken, _ name: String) -> String {
            JSONLine.text([
                ("id", .string(token.id.text)), ("user", .string(name)), ("scope", .string(scopeText(token.scope))),
                ("createdAt", .string(token.createdAt.iso8601)), ("expiresAt", .string(token.expiresAt.iso8601)),
                ("revokedAt", token.revokedAt.map { .string($0.iso8601) } ?? .null),
            ])
        }

        private func scopeText(_ scope: Identity.Scope) -> String {
            switch scope {
            case .full: "full"
            case .readOnly: "read-only"
            case .publish(let topic): "publish:\(topic)"
            case .push: "push"
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a token by its id (see `tocsin token list`).")

        @Argument(help: "The token's id.") var id: String
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                try await tool.accounts.revoke(TokenID(id))
                print("Revoked token \(id).")
            }
        }
    }
}

/// A length of time as people write it: `90s`, `15m`, `12h`, `30d`, `1y`.
struct Lifetime: ExpressibleByArgument {
    let seconds: Double

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 31_536_000]
    private static let longestSeconds = 10 * 31_536_000.0

    init(seconds: Double) {
        self.seconds = seconds
    }

    init?(argument: String) {
        guard let last = argument.last, let unit = Self.units[last], let count = Double(argument.dropLast()),
            count > 0, count * unit <= Self.longestSeconds
        else { return nil }
        self.init(seconds: count * unit)
    }

    var defaultValueDescription: String { "\(Int(seconds / 86_400))d" }
}
