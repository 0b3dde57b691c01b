import Synchronization

/// Keeps what is known of people up to date with the tokens that they show, behind their requests.
///
/// Only people who once registered a device, joined a topic or made something that acts for them
/// have facts; of local users it is noted when they were here. Writes are bounded: one an hour for
/// each person while nothing changes, and a few in some minutes for tokens that differ.
package final class UserFactsKeeper: Sendable {
    private struct Noted {
        var facts: UserFacts
        /// Writes since `since`.
        var count = 1
        var since: Timestamp
    }

    private enum News: Sendable {
        case facts(UserFacts)
        case seen(UserID, Timestamp)
    }

    private let store: any Store
    private let time: any TimeSource
    private let claims: Set<String>
    private let sharing: SharingService
    private let noted = Mutex<[UserID: Noted]>([:])
    /// When local users were noted as seen.
    private let seen = Mutex<[UserID: Timestamp]>([:])
    private let queue: AsyncStream<News>
    private let inbox: AsyncStream<News>.Continuation

    /// How long what is known is good enough while tokens say the same.
    private static let renewalSeconds = 3600.0
    /// At most this many changes of one person are written in this many seconds.
    private static let changes = (count: 3, seconds: 180.0)
    /// People remembered, and writes that wait; beyond it all are forgotten,
    /// or nothing more is noted.
    private static let maximumPeople = 10_000
    private static let maximumWaiting = 1000

    /// Keeps facts with the claims that pushes are judged by; nothing is written before `run`.
    ///
    /// Whom `sharing` shares topics with, by a group that their token names, becomes their member.
    package init(store: any Store, time: any TimeSource, sharing: SharingService) {
        (self.store, self.time, self.sharing) = (store, time, sharing)
        claims = sharing.rights.notedClaims
        (queue, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumWaiting))
    }

    /// Notes whose token was verified just now; never waits.
    package func note(_ caller: Identity) {
        let now = time.now()
        if caller.isPerson, caller.tokenID != nil { return noteSeen(caller.userID, now) }
        guard let facts = UserFacts(of: caller, naming: claims, at: now), isNews(facts, now) else { return }
        guard case .enqueued = inbox.yield(.facts(facts)) else { return forget(facts.userID) }
    }

    /// Hears of changed grants: people of a group that has got one are noted again when they come.
    package func observe(_ event: DomainEvent) {
        guard case .grantsChanged(let change) = event, case .group(let name) = change.subject else { return }
        let groups = sharing.rights.claimedGroups
        noted.withLock { noted in
            noted = noted.filter { !groups.subjects(in: $0.value.facts.claims).contains(name) }
        }
    }

    /// Writes what is noted, until it is cancelled.
    package func run() async {
        for await news in queue {
            do {
                switch news {
                case .facts(let facts):
                    let isKnown = try await store.write { writer throws(StoreError) in try writer.renew(facts) }
                    if isKnown { try await sharing.welcome(facts) }
                case .seen(let user, let moment):
                    try await store.write { writer throws(StoreError) in try writer.noteSeen(user, at: moment) }
                }
            } catch {
                // The next request of this person notes it again.
                switch news {
                case .facts(let facts): forget(facts.userID)
                case .seen(let user, _): seen.withLock { $0[user] = nil }
                }
            }
        }
    }

    private func noteSeen(_ user: UserID, _ now: Timestamp) {
        let isNews = seen.withLock { seen in
            if seen.count >= Self.maximumPeople { seen.removeAll() }
            if let known = seen[user], now < known.adding(seconds: Self.renewalSeconds) { return false }
            seen[user] = now
            return true
        }
        guard isNews else { return }
        if case .enqueued = inbox.yield(.seen(user, now)) { return }
        seen.withLock { $0[user] = nil }
    }

    private func isNews(_ facts: UserFacts, _ now: Timestamp) -> Bool {
        noted.withLock { noted in
            if noted.count >= Self.maximumPeople { noted.removeAll() }
            guard var known = noted[facts.userID] else {
                noted[facts.userID] = Noted(facts: facts, since: now)
                return true
            }
            if known.since.adding(seconds: Self.changes.seconds) <= now { (known.count, known.since) = (0, now) }
            let isDue =
                known.facts.says(facts)
                ? known.facts.seenAt.adding(seconds: Self.renewalSeconds) <= now : known.count < Self.changes.count
            guard isDue else { return false }
            noted[facts.userID] = Noted(facts: facts, count: known.count + 1, since: known.since)
            return true
        }
    }

    private func forget(_ user: UserID) { noted.withLock { $0[user] = nil } }
}
