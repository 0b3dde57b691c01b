import Logging
import Synchronization
import TocsinCore

/// Looks for tokens revoked or changed, API keys revoked, users disabled and groups changed, and
/// tells everybody inside the server.
///
/// That may have been done by this node, by others, or by commands beside the server.
struct RevocationWatch: Sendable {
    /// Rings when access has ended.
    private final class Alarm: Sendable {
        let isRung = Atomic(true)
    }

    /// The time of the newest change of rights that was read; rights are read a while back from it,
    /// for those that were committed late.
    private final class Newest: Sendable {
        let change = Mutex(Timestamp(milliseconds: 0))
    }

    private let store: any Store
    private let list: RevocationList
    private let hub: EventHub
    private let time: any TimeSource
    private let logger: Logger
    private let alarm = Alarm()
    private let newest = Newest()
    private static let lateSeconds = 60.0
    /// Looks that may be left out while nothing was told.
    private let quietLooks: Int

    /// - Parameter isTold: Whether the hub is told of what others end, so that there is something
    ///   to find only after that.
    init(
        store: any Store,
        list: RevocationList,
        hub: EventHub,
        time: any TimeSource,
        isTold: Bool,
        logger: Logger
    ) {
        self.store = store
        self.list = list
        self.hub = hub
        self.time = time
        self.logger = logger
        quietLooks = isTold ? 20 : 0
        let alarm = alarm
        hub.add(hearing: .accessEnded) { _ in alarm.isRung.store(true, ordering: .releasing) }
    }

    /// With the way to the sockets, access ends everywhere within a second.
    private static let pauseSeconds = 0.5

    /// Looks again and again until it is cancelled.
    func run() async {
        var quiet = 0
        while !Task.isCancelled {
            if alarm.isRung.exchange(false, ordering: .acquiringAndReleasing) || quiet >= quietLooks {
                await look()
                quiet = 0
            }
            hub.publish(list.ended(by: time.now()))
            quiet += 1
            try? await time.sleep(until: time.now().adding(seconds: Self.pauseSeconds))
        }
    }

    /// Looks once; while the store cannot be read, what was known stays.
    func look() async {
        do {
            let now = time.now()
            // Sockets of tokens that ended a day ago have ended with them.
            let dayAgo = now.adding(seconds: -86_400)
            let since = newest.change.withLock(\.self).adding(seconds: -Self.lateSeconds)
            let (tokens, accounts, keys, rights, sessions) = try await store.read { reader throws(StoreError) in
                (
                    try reader.revokedTokens() + reader.changedTokens(endingAfter: dayAgo),
                    try reader.disabledAccounts(), try reader.revokedAPIKeys(), try reader.rightsChanged(since: since),
                    try reader.endedSessions(at: now)
                )
            }
            newest.change.withLock { newest in newest = rights.values.max().map { max(newest, $0) } ?? newest }
            let ended = list.replace(tokens: tokens, accounts: accounts, keys: keys, sessions: sessions)
            hub.publish(ended + list.note(rights))
        } catch {
            logger.debug(
                "revocations cannot be read",
                metadata: ["event": "revocations_unread", "reason": "\(error)"]
            )
        }
    }
}
