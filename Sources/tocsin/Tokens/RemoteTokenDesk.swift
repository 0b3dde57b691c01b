import JSON
import TocsinClient
import TocsinCore
import TocsinServer

/// Tokens of the caller, at a running server.
struct RemoteTokenDesk: TokenDesk {
    let client: TocsinClient

    /// The documents, for servers that run trusted ones only.
    static let documents = [createDocument, listDocument, rotateDocument, revokeDocument, revokeAllDocument]

    private static let createDocument = """
        mutation CreateToken($input: CreateTokenInput!) { createToken(input: $input) { text } }
        """
    private static let listDocument = """
        query ListTokens($user: ID, $next: String) {
          me { userId username }
          tokens(user: $user, limit: 100, nextToken: $next) {
            nextToken
            items {
              id name user scopes cidrs createdAt createdBy expiresAt lastUsedAt lastUsedFrom revokedAt rotatedTo
            }
          }
        }
        """
    private static let rotateDocument = """
        mutation RotateToken($id: ID!, $overlap: Int) { rotateToken(id: $id, overlapSeconds: $overlap) { text } }
        """
    private static let revokeDocument = "mutation RevokeToken($id: ID!) { revokeToken(id: $id) { id } }"
    private static let revokeAllDocument = "mutation RevokeAllTokens($user: ID!) { revokeAllTokens(user: $user) }"

    func create(_ order: TokenOrder) async throws -> String {
        let words = try await order.words { try await client.topicID(of: .nameOrID($0)) }
        var input: JSONObject = [
            "name": .string(order.name(of: words)), "scopes": .array(words.map { .string($0) }),
            "cidrs": .array(order.networks.map { .string($0) }),
        ]
        if let user = order.user { input["user"] = .string(user) }
        if let seconds = order.lifetimeSeconds {
            input["expiresAt"] = .string(SystemTime().now().adding(seconds: seconds).iso8601)
        }
        let answer = try await client.mutate(Self.createDocument, variables: ["input": .object(input)])
        return try Self.text(answer["createToken"]?["text"])
    }

    func each(of user: String?, _ show: (ListedToken) -> Void) async throws {
        var next = JSONValue.null
        let user = user.map { JSONValue.string($0) } ?? .null
        repeat {
            let answer = try await client.query(Self.listDocument, variables: ["user": user, "next": next])
            for item in answer["tokens"]?["items"]?.arrayValue ?? [] { show(Self.listed(item, answer["me"])) }
            next = answer["tokens"]?["nextToken"] ?? .null
        } while next != .null
    }

    func rotate(_ id: String, overlapSeconds: Int64) async throws -> String {
        let answer = try await client.mutate(
            Self.rotateDocument,
            variables: ["id": .string(id), "overlap": .int(overlapSeconds)]
        )
        return try Self.text(answer["rotateToken"]?["text"])
    }

    func revoke(_ id: String) async throws {
        _ = try await client.mutate(Self.revokeDocument, variables: ["id": .string(id)])
    }

    func revokeAll(of user: String) async throws -> Int {
        let answer = try await client.mutate(Self.revokeAllDocument, variables: ["user": .string(user)])
        return Int(answer["revokeAllTokens"]?.intValue ?? 0)
    }

    private static func text(_ value: JSONValue?) throws -> String {
        guard let text = value?.stringValue else { throw CommandFailure("The server did not answer.") }
        return text
    }

    private static func listed(_ item: JSONValue, _ me: JSONValue?) -> ListedToken {
        func text(_ name: String) -> String? { item[name]?.stringValue }
        func texts(_ name: String) -> [String] { item[name]?.arrayValue?.compactMap(\.stringValue) ?? [] }
        let isOwn = text("user") == me?["userId"]?.stringValue
        return ListedToken(
            id: text("id") ?? "",
            user: (isOwn ? me?["username"]?.stringValue : text("user")) ?? "",
            name: text("name") ?? "",
            scopes: texts("scopes"),
            networks: texts("cidrs"),
            createdAt: text("createdAt") ?? "",
            createdBy: text("createdBy") ?? "",
            expiresAt: text("expiresAt") ?? "",
            lastUsedAt: text("lastUsedAt"),
            lastUsedFrom: text("lastUsedFrom"),
            revokedAt: text("revokedAt"),
            rotatedTo: text("rotatedTo")
        )
    }
}
