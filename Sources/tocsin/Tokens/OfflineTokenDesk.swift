import TocsinCore
import TocsinServer

/// Tokens of anybody, at the server's data.
struct OfflineTokenDesk: TokenDesk {
    private let tool: OfflineStore
    private let names: [UserID: String]

    /// Opens the data, does the work, closes.
    static func run(_ store: StoreOptions, _ work: (any TokenDesk) async throws -> Void) async throws {
        var failure: (any Error)?
        try await OfflineStore.run(store) { tool throws(ServiceError) in
            let names = Dictionary(try await tool.accounts.accounts().map { ($0.id, $0.name) }) { first, _ in first }
            do {
                try await work(OfflineTokenDesk(tool: tool, names: names))
            } catch let error as ServiceError {
                throw error
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    func create(_ order: TokenOrder) async throws -> String {
        guard let user = order.user else {
            throw CommandFailure("Give --user: whose token it is.", status: 2)
        }
        let account = try await tool.accounts.account(named: user)
        let words = try await order.words { try await tool.topicID($0, of: account) }
        var made = TokenService.Order(
            name: order.name(of: words),
            for: account.id,
            scope: try TokenService.scope(of: words)
        )
        made.networks = try TokenService.networks(of: order.networks)
        made.lifetimeSeconds = order.lifetimeSeconds
        return try await tool.tokens.create(made, by: nil).text
    }

    func each(of user: String?, _ show: (ListedToken) -> Void) async throws {
        var owner: UserID?
        if let user { owner = try await tool.accounts.account(named: user).id }
        var last: TokenID?
        while true {
            let page = try await tool.tokens.tokens(of: owner, after: last, limit: 500, by: nil)
            for token in page.tokens { show(listed(token)) }
            guard page.hasMore, let id = page.tokens.last?.id else { return }
            last = id
        }
    }

    func rotate(_ id: String, overlapSeconds: Int64) async throws -> String {
        try await tool.tokens.rotate(TokenID(id), overlapSeconds: overlapSeconds, by: nil).text
    }

    func revoke(_ id: String) async throws { _ = try await tool.tokens.revoke(TokenID(id), by: nil) }

    func revokeAll(of user: String) async throws -> Int {
        try await tool.tokens.revokeAll(of: try await tool.accounts.account(named: user).id, by: nil)
    }

    private func listed(_ token: IssuedToken) -> ListedToken {
        ListedToken(
            id: token.id.text,
            user: names[token.userID] ?? token.userID.text,
            name: token.name,
            scopes: token.scope.words,
            networks: token.networkTexts,
            createdAt: token.createdAt.iso8601,
            createdBy: token.createdBy?.text ?? "operator",
            expiresAt: token.expiresAt.iso8601,
            lastUsedAt: token.lastUsedAt?.iso8601,
            lastUsedFrom: token.lastUsedFrom,
            revokedAt: token.revokedAt?.iso8601,
            rotatedTo: token.rotatedTo?.text
        )
    }
}
