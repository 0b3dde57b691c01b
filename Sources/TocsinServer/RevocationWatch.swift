import Logging
import TocsinCore

/// Looks for tokens and API keys revoked and users disabled by commands beside the server, and tells everybody inside it.
struct RevocationWatch: Sendable {
    let store: any Store
    let list: RevocationList
    let hub: EventHub
    let time: any TimeSource
    let logger: Logger

    /// With the way to the sockets, access ends everywhere within a second.
    private static let pauseSeconds = 0.5

    /// Looks again and again until it is cancelled.
    func run() async {
        while !Task.isCancelled {
            await look()
            try? await time.sleep(until: time.now().adding(seconds: Self.pauseSeconds))
        }
    }

    /// Looks once; while the store cannot be read, what was known stays.
    func look() async {
        do {
            let (tokens, accounts, keys) = try await store.read { reader throws(StoreError) in
                (try reader.tokens(of: nil), try reader.accounts(), try reader.apiKeys())
            }
            hub.publish(list.replace(tokens: tokens, accounts: accounts, keys: keys))
        } catch {
            logger.debug("revocations cannot be read", metadata: ["reason": "\(error)"])
        }
    }
}
