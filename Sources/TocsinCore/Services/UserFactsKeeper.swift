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
        /// Whether there is a row of theirs; it is known once something was written.
        var isKnown = false
        /// When it was last looked whether they come into topics by their groups.
        var welcomedAt: Timestamp
    }

    private enum News: Sendable {
        case facts(UserFacts)
        case seen(UserID, Timestamp)
        /// Somebody known is here, who may have come into a topic by a group since.
        case here(UserFacts)
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
    /// How soon a grant to a group is seen by people of it who are here all the time.
    private static let welcomeSeconds = 60.0
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
        guard let facts = UserFacts(of: caller, naming: claims, at: now) else { return }
        if isNews(facts, now) {
            guard case .enqueued = inbox.yield(.facts(facts)) else { return forget(facts.userID) }
        } else if isToBeWelcomed(facts, now) {
            inbox.yield(.here(facts))
        }
    }

    /// Writes what is noted, until it is cancelled.
    package func run() async {
        for await news in queue {
            do {
                switch news {
                case .facts(let facts):
                    let isKnown = try await store.write { writer throws(StoreError) in try writer.renew(facts) }
                    noted.withLock { $0[facts.userID]?.isKnown = isKnown }
                    if isKnown { try await sharing.welcome(facts) }
                case .here(let facts): try await sharing.welcome(facts)
                case .seen(let user, let moment):
                    try await store.write { writer throws(StoreError) in try writer.noteSeen(user, at: moment) }
                }
            } catch {
                // The next request of this person notes it again.
                switch news {
                case .facts(let facts), .here(let facts): forget(facts.userID)
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
                noted[facts.userID] = Noted(facts: facts, since: now, welcomedAt: now)
                return true
            }
            if known.since.adding(seconds: Self.changes.seconds) <= now { (known.count, known.since) = (0, now) }
            let isDue =
                known.facts.says(facts)
                ? known.facts.seenAt.adding(seconds: Self.renewalSeconds) <= now : known.count < Self.changes.count
            guard isDue else { return false }
            (known.facts, known.count, known.welcomedAt) = (facts, known.count + 1, now)
            noted[facts.userID] = known
            return true
        }
    }

    private func isToBeWelcomed(_ facts: UserFacts, _ now: Timestamp) -> Bool {
        guard !sharing.rights.claimedGroups.subjects(in: facts.claims).isEmpty else { return false }
        return noted.withLock { noted in
            guard let known = noted[facts.userID], known.isKnown,
                known.welcomedAt.adding(seconds: Self.welcomeSeconds) <= now
            else { return false }
            noted[facts.userID]?.welcomedAt = now
            return true
        }
    }

    private func forget(_ user: UserID) { noted.withLock { $0[user] = nil } }
}
