import ArgumentParser
import JSON
import TocsinCore
import TocsinServer

/// The command `tocsin token create | list | rotate | revoke`.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Manage the tokens of local users.",
        discussion: """
            Beside the server's data these commands work for its operator, on anybody's tokens. With --server they ask a \
            running server, as the user of TOCSIN_TOKEN; with TOCSIN_URL too, unless --data-dir, --database, --config \
            or their variables say where the data is. See docs/tokens.md.
            """,
        subcommands: [Create.self, List.self, Rotate.self, Revoke.self]
    )
}

extension TokenCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new bearer token, alone on standard output.",
            discussion: """
                The token is shown once and not stored. Without a scope it may do all that its user may.

                  tocsin token create --user alice --ttl 30d
                  tocsin token create --user monitoring --publish alerts --cidr 10.0.0.0/8
                  tocsin token create --user alice --name "my phone" --scope device
                  tocsin token create --user backend --push
                """
        )

        @Option(help: "Whose token it is; with --server you, unless given.") var user: String?
        @Option(help: "What to call it in lists.") var name: String?
        @Option(
            help: """
                What it may do: full, read, read:ID, publish:ID, push, topics, metrics, audit or device. May be given \
                several times, as may the next two.
                """
        )
        var scope: [String] = []
        @Option(help: "A topic of the user, by name or id: the token can create messages in it.")
        var publish: [String] = []
        @Option(help: "A topic of the user, by name or id: the token can read it with its messages.")
        var read: [String] = []
        @Flag(name: .customLong("read-only"), help: "The token can read: --scope read.") var readOnly = false
        @Flag(help: "The token can push (sendPush), to every user of the server: --scope push.") var push = false
        @Option(help: "How long it is good: 90s, 15m, 12h, 30d, 1y. Default: 30d.", transform: Lifetime.read)
        var ttl: Lifetime?
        @Option(help: "A network that it may be used from, such as 10.0.0.0/8. May be given several times.")
        var cidr: [String] = []
        @OptionGroup var place: TokenPlace

        func run() async throws {
            var order = TokenOrder(user: user, scopes: scope, publish: publish, read: read, networks: cidr)
            if readOnly { order.scopes.append("read") }
            if push { order.scopes.append("push") }
            if order.namesNoScope { order.scopes = ["full"] }
            order.name = name
            order.lifetimeSeconds = ttl?.seconds
            let wanted = order
            try await place.run { desk in Terminal.print(try await desk.create(wanted)) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List tokens: id, user, scopes, end, name, last use.",
            discussion: """
                A last use is told to the minute, up to two minutes late, with the network and never the address.

                  tocsin token list --user alice
                  tocsin token list --unused 90d
                """
        )

        @Option(help: "Only this user's.") var user: String?
        @Option(help: "Only good ones that were not used for so long: 12h, 90d, 1y.", transform: Lifetime.read)
        var unused: Lifetime?
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var place: TokenPlace

        func run() async throws {
            let now = SystemTime().now()
            try await place.run { desk in
                try await desk.each(of: user) { token in
                    guard unused.map({ token.isUnused(for: $0.seconds, at: now) }) ?? true else { return }
                    Terminal.print(json ? token.json.serializedString() : token.line)
                }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a token that stands in another one's place, alone on standard output.",
            discussion: """
                The new token has the same rights and the same length of life. The old one goes on for a while, so that \
                who uses it can be given the new one.

                  tocsin token rotate 0199f0c2-6d7e-7000-8000-3f2a7c1d5e90 --overlap 1h
                """
        )

        @Argument(help: "The token's id.") var id: String
        @Option(
            help: "How long the old one goes on, at most 30d; 0s ends it at once. Default: 24h.",
            transform: Lifetime.readOrNone
        )
        var overlap: Lifetime?
        @OptionGroup var place: TokenPlace

        func run() async throws {
            try await place.run { desk in
                Terminal.print(try await desk.rotate(id, overlapSeconds: Int64(overlap?.seconds ?? 86_400)))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a token by its id (see `tocsin token list`), or all of a user's."
        )

        @Argument(help: "The token's id.") var id: String?
        @Flag(help: "All tokens of --user.") var all = false
        @Option(help: "Whose tokens end with --all.") var user: String?
        @OptionGroup var place: TokenPlace

        func validate() throws {
            guard (id == nil) == all, all == (user != nil) else {
                throw ValidationError("Give a token's id, or --all with --user.")
            }
        }

        func run() async throws {
            try await place.run { desk in
                if let id {
                    try await desk.revoke(id)
                    Terminal.print("Revoked token \(Terminal.harmless(id)).")
                }
                if let user {
                    let count = try await desk.revokeAll(of: user)
                    Terminal.print("Revoked \(count) tokens of \(Terminal.harmless(user)).")
                }
            }
        }
    }
}

/// A length of time as people write it: `90s`, `15m`, `12h`, `30d`, `1y`.
struct Lifetime {
    let seconds: Double

    private static let longestSeconds = 10 * 31_536_000.0

    /// What an option says.
    static func read(_ text: String) throws -> Lifetime {
        guard let seconds = TimeLength.seconds(text), seconds > 0 else {
            throw ValidationError("Write a number and s, m, h, d or y, such as 90s, 12h, 30d or 1y.")
        }
        guard seconds <= longestSeconds else { throw ValidationError("Ten years (10y) is the longest.") }
        return Lifetime(seconds: seconds)
    }

    /// The same, or none at all: `0s`.
    static func readOrNone(_ text: String) throws -> Lifetime {
        text == "0s" || text == "0" ? Lifetime(seconds: 0) : try read(text)
    }
}
