import ArgumentParser
import FoundationEssentials
import JSON
import TocsinClient
import TocsinCore
import TocsinServer

/// Where tokens are managed: at the server's data as its operator, or at a running server as the
/// user of a token.
protocol TokenDesk {
    /// Makes a token; answers its text.
    func create(_ order: TokenOrder) async throws -> String
    /// Shows each token of a user, or of all whose tokens may be seen here.
    func each(of user: String?, _ show: (ListedToken) -> Void) async throws
    /// Makes a token in another one's place; answers its text.
    func rotate(_ id: String, overlapSeconds: Int64) async throws -> String
    /// Revokes a token.
    func revoke(_ id: String) async throws
    /// Revokes all tokens of a user; answers how many.
    func revokeAll(of user: String) async throws -> Int
}

/// A token to be made, as the command line says it.
struct TokenOrder: Sendable {
    var user: String?
    var name: String?
    /// Words of scopes, whose topics are ids.
    var scopes: [String]
    /// Topics by name or id.
    var publish: [String]
    var read: [String]
    var networks: [String]
    var lifetimeSeconds: Double?

    init(user: String?, scopes: [String], publish: [String], read: [String], networks: [String]) {
        (self.user, self.scopes, self.publish, self.read) = (user, scopes, publish, read)
        self.networks = networks
    }

    var namesNoScope: Bool { scopes.isEmpty && publish.isEmpty && read.isEmpty }

    /// The words of all scopes, with topics found by `find`.
    func words(_ find: (String) async throws -> String) async throws -> [String] {
        var words = scopes
        for topic in publish { words.append("publish:" + (try await find(topic))) }
        for topic in read { words.append("read:" + (try await find(topic))) }
        return words
    }

    /// The name, or what the token may do.
    func name(of words: [String]) -> String { name ?? String(words.joined(separator: " ").prefix(64)) }
}

/// A token in a list.
struct ListedToken: Sendable {
    /// The members that both desks know.
    var id: String
    var user: String
    var name: String
    var scopes: [String]
    var networks: [String]
    var createdAt: String
    var createdBy: String
    var expiresAt: String
    var lastUsedAt: String?
    var lastUsedFrom: String?
    var revokedAt: String?
    var rotatedTo: String?

    /// What the four oldest scopes were always called here.
    private var summary: String { Identity.Scope(words: scopes)?.oldSummary ?? scopes.joined(separator: " ") }

    /// A line for people.
    var line: String {
        let end = revokedAt.map { "revoked \($0)" } ?? rotatedTo.map { "until \(expiresAt), then \($0)" }
        let use = lastUsedAt.map { "used \($0)" + (lastUsedFrom.map { " from \($0)" } ?? "") } ?? "not used"
        let place = networks.isEmpty ? "" : " at \(networks.joined(separator: " "))"
        return [id, user, summary + place, end ?? "until \(expiresAt)", name, use].map(Terminal.harmless)
            .joined(separator: "\t")
    }

    /// A line for programs.
    var json: JSONValue {
        .object([
            "id": .string(id), "user": .string(user), "name": .string(name), "scope": .string(summary),
            "scopes": .array(scopes.map { .string($0) }), "cidrs": .array(networks.map { .string($0) }),
            "createdAt": .string(createdAt), "createdBy": .string(createdBy), "expiresAt": .string(expiresAt),
            "lastUsedAt": lastUsedAt.map { .string($0) } ?? .null,
            "lastUsedFrom": lastUsedFrom.map { .string($0) } ?? .null,
            "revokedAt": revokedAt.map { .string($0) } ?? .null, "rotatedTo": rotatedTo.map { .string($0) } ?? .null,
        ])
    }

    /// Whether it is good, and was not used for so long, nor made since.
    func isUnused(for seconds: Double, at now: Timestamp) -> Bool {
        guard revokedAt == nil, Timestamp(awsDateTime: expiresAt).map({ $0 > now }) ?? false else { return false }
        let latest = Timestamp(awsDateTime: lastUsedAt ?? createdAt)
        return latest.map { $0 <= now.adding(seconds: -seconds) } ?? false
    }
}

extension Identity.Scope {
    /// The words that lists had before tokens had several scopes.
    fileprivate var oldSummary: String {
        guard let topic = publishTopics.first, self == .publish(topic: topic) else { return summary }
        return "publish:" + topic
    }
}

/// Where the commands work: options of both places.
struct TokenPlace: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var client: ClientOptions

    func validate() throws {
        if client.server != nil, !store.flags.isEmpty {
            throw ValidationError("Give --server, or where the data is, and not both.")
        }
    }

    /// A server that is named counts, unless the data is.
    private var isRemote: Bool {
        if client.server != nil { return true }
        let environment = ProcessInfo.processInfo.environment
        let namesData = ["TOCSIN_DATA_DIR", "TOCSIN_DATABASE_URL", "TOCSIN_CONFIG"].contains { environment[$0] != nil }
        return store.flags.isEmpty && !namesData && environment["TOCSIN_URL"] != nil
            && (client.token ?? environment["TOCSIN_TOKEN"]) != nil
    }

    /// Does the work at the place that the options name.
    func run(_ work: (any TokenDesk) async throws -> Void) async throws {
        guard isRemote else { return try await OfflineTokenDesk.run(store, work) }
        try await client.run { client in try await work(RemoteTokenDesk(client: client)) }
    }
}
