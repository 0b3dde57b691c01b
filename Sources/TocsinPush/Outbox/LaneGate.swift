import TocsinCore

/// Whether pushes may pass on a lane: opens, pauses and probes by what became of those before.
///
/// States: open → paused (a pause result, an outage, or suspect configuration) → probing (one push after 1, 2, 4 … 60 s)
/// → open at the first success, else paused again.
struct LaneGate: Sendable, Hashable {
    private enum State: Sendable, Hashable {
        case open
        case paused(until: Timestamp)
        case probing(since: Timestamp)
    }

    /// How many of the wanted pushes may go now; the others wait until the given moment.
    struct Admission: Sendable, Hashable {
        var count: Int
        var othersWaitUntil: Timestamp
    }

    /// What a settled push says of the lane.
    enum Sign: Sendable, Hashable {
        /// The provider works.
        case alive
        /// An acceptance: the app, the credentials and the provider are right.
        case accepted
        /// A token that does not fit this app or side.
        case wrongToken
        case serverFault(UserID)
        case stuck(reason: String)
        case neutral
    }

    /// What people should know.
    enum Change: Sendable, Hashable {
        case paused(reason: String)
        case resumed
    }

    private static let maximumBackoffSeconds = 60.0
    /// An unanswered probe gives way to another after this time.
    private static let probeSeconds = 45.0
    private static let trustSeconds = 600.0
    private static let suspicious = 3
    private static let outageAnswers = 20
    private static let outageOwners = 3

    private var state = State.open
    private var backoffSeconds = 0.0
    private var lastAccepted: Timestamp?
    private var wrongTokens = 0
    private var isSuspect = false
    /// The owners of the last answers, all of which were server faults.
    private var faults: [UserID] = []
    private var reportedAt: Timestamp?

    var isOpen: Bool { state == .open }

    /// Decides how many may go.
    ///
    /// - Parameter isFresh: A message's first try. While only the configuration is suspect, one of each page may go, so
    ///   that somebody's wrong tokens do not hold up others.
    mutating func admit(_ wanted: Int, isFresh: Bool, now: Timestamp) -> Admission {
        switch state {
        case .open:
            return Admission(count: wanted, othersWaitUntil: now)
        case .paused(let until):
            if now >= until {
                state = .probing(since: now)
                return Admission(count: min(1, wanted), othersWaitUntil: waitBehindProbe(now))
            }
            return Admission(count: isFresh && isSuspect ? min(1, wanted) : 0, othersWaitUntil: until)
        case .probing(let since):
            let isLost = now >= since.adding(seconds: Self.probeSeconds)
            if isLost { state = .probing(since: now) }
            let passes = isLost || (isFresh && isSuspect)
            return Admission(count: passes ? min(1, wanted) : 0, othersWaitUntil: waitBehindProbe(now))
        }
    }

    /// Whether so many wrong tokens, with this many acceptances beside them, speak against the configuration.
    func suspects(wrongTokens new: Int, accepted: Int, now: Timestamp) -> Bool {
        guard new > 0, accepted == 0 else { return false }
        if let lastAccepted, now < lastAccepted.adding(seconds: Self.trustSeconds) { return false }
        return wrongTokens + new >= Self.suspicious
    }

    /// Learns from settled pushes; answers what changed.
    mutating func learn(_ signs: [Sign], now: Timestamp) -> Change? {
        let wasOpen = isOpen
        var stuck: String?
        for sign in signs {
            switch sign {
            case .alive: open()
            case .accepted:
                open()
                lastAccepted = now
                (wrongTokens, isSuspect) = (0, false)
            case .wrongToken: wrongTokens += 1
            case .serverFault(let owner): stuck = fault(of: owner) ?? stuck
            case .stuck(let reason): stuck = reason
            case .neutral: break
            }
        }
        if let stuck, !signs.contains(.accepted) { return pause(stuck, now) }
        if wasOpen || !isOpen { return nil }
        reportedAt = nil
        return .resumed
    }

    /// Marks the pause as one over wrong tokens.
    mutating func suspect() { isSuspect = true }

    private mutating func open() {
        state = .open
        backoffSeconds = 0
        faults = []
    }

    private mutating func fault(of owner: UserID) -> String? {
        faults.append(owner)
        if faults.count > Self.outageAnswers { faults.removeFirst() }
        if case .probing = state { return "the provider is still failing" }
        guard faults.count == Self.outageAnswers, Set(faults).count >= Self.outageOwners else { return nil }
        return "the last \(Self.outageAnswers) answers were failures of the provider"
    }

    /// Late news of a pause that has been made already changes nothing.
    private mutating func pause(_ reason: String, _ now: Timestamp) -> Change? {
        if case .paused(let until) = state, now < until { return nil }
        backoffSeconds = min(Self.maximumBackoffSeconds, max(1, backoffSeconds * 2))
        state = .paused(until: now.adding(seconds: backoffSeconds))
        if let reportedAt, now < reportedAt.adding(seconds: 60) { return nil }
        reportedAt = now
        return .paused(reason: reason)
    }

    /// Others come back a little later than a quick answer takes, and rarer the longer the trouble lasts.
    private func waitBehindProbe(_ now: Timestamp) -> Timestamp {
        now.adding(seconds: 1 + backoffSeconds / 8)
    }

    /// When a paused lane is tried next.
    func nextTry(now: Timestamp) -> Timestamp {
        switch state {
        case .open: now.adding(seconds: 1)
        case .paused(let until): max(until, now)
        case .probing: waitBehindProbe(now)
        }
    }
}
