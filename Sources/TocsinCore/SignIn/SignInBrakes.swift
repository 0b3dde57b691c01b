import Synchronization

/// Slows tries of passwords, and locks nobody out.
///
/// After five failures within ten minutes, an account's further tries wait in time: 1, 2, then 3
/// seconds. Networks from which the user signed in before are counted apart, each by itself, so
/// that strangers' tries never slow the user's own. A network with thirty failures may try once a
/// minute. The counts are this node's, in memory.
package final class SignInBrakes: Sendable {
    /// One try of a password.
    package struct Try: Sendable, Hashable {
        /// The user name as it was written.
        package var account: String
        /// The address, or its network of 64 bits; nil where it is not known.
        package var network: String?
        /// Whether the user signed in from there before.
        package var isFamiliar: Bool

        /// A try of these parts.
        package init(account: String, network: String?, isFamiliar: Bool) {
            (self.account, self.network, self.isFamiliar) = (account, network, isFamiliar)
        }

        fileprivate var accountKey: AccountKey {
            AccountKey(account: account, network: isFamiliar ? network ?? "" : nil)
        }

        /// How long it is to wait of so many seconds: up to a third less, always the same for one
        /// network, so that tries of many networks do not come back together.
        package func share(ofSeconds seconds: Double) -> Double {
            // FNV-1a (draft-eastlake-fnv).
            let sum = (network ?? "").utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
            return seconds * (1 - Double(sum % 1024) / 3072)
        }
    }

    /// What becomes of a try.
    package enum Decision: Sendable, Hashable {
        /// It is made after so many seconds.
        case after(seconds: Double)
        /// It is not made; it may come again after so many seconds.
        case refused(seconds: Int)
        /// Too many tries wait already.
        case busy
    }

    /// What an account's failures are counted by; no name that a stranger writes has a network.
    fileprivate struct AccountKey: Hashable {
        var account: String
        /// The familiar network; nil for all others together.
        var network: String?
    }

    private struct Count {
        var failures = 0
        var last: Timestamp
    }

    private struct State {
        var accounts: [AccountKey: Count] = [:]
        var networks: [String: Count] = [:]
        /// Networks from which nobody has signed in, and when that was found.
        var unknown: [String: Timestamp] = [:]
        var waiting = 0
        var checked = 0

        func failures(of network: String?) -> Int { network.flatMap { networks[$0]?.failures } ?? 0 }
    }

    /// Failures after which an account's tries wait.
    static let freeFailures = 5
    /// The longest wait; an answer has five seconds (`TOCSIN_EXECUTION_SECONDS`).
    static let longestWaitSeconds = 3.0
    /// Failures after which a network may try once a minute.
    static let networkFailures = 30
    private static let windowSeconds = 600.0
    private static let networkPauseSeconds = 60.0
    /// Tries that may wait at once, those from unknown networks.
    private static let maximumWaiting = 256
    /// Passwords of strangers' tries that are checked or wait for that.
    ///
    /// A known network's try has at most these before it.
    private static let maximumChecked = 4
    /// Those of networks with more than a few failures among them, which leave the rest to people
    /// who are where they never were before.
    private static let maximumOfGuessers = 2
    private static let fewFailures = 3
    private static let maximumKeys = 20_000
    private static let unknownSeconds = 10.0

    private let state = Mutex(State())

    /// Brakes that have seen no failure.
    package init() {}

    /// Counts a try as a failure until `succeeded` takes that back, and says when it is made.
    ///
    /// Each `after` must be followed by `finished`.
    package func begin(_ attempt: Try, now: Timestamp) -> Decision {
        state.withLock { state in
            Self.makeRoom(&state, now)
            if !attempt.isFamiliar, let network = attempt.network {
                if let seconds = Self.pause(of: network, &state, now) { return .refused(seconds: seconds) }
            }
            guard attempt.isFamiliar || state.waiting < Self.maximumWaiting else { return .busy }
            state.waiting += attempt.isFamiliar ? 0 : 1
            if !attempt.isFamiliar, let network = attempt.network { Self.count(network, &state.networks, now) }
            let failures = Self.count(attempt.accountKey, &state.accounts, now)
            guard failures > Self.freeFailures else { return .after(seconds: 0) }
            let exponent = min(failures - Self.freeFailures - 1, 2)
            return .after(seconds: min(Double(1 << exponent), Self.longestWaitSeconds))
        }
    }

    /// Whether it was found within ten seconds that nobody has signed in from this network.
    package func isUnknown(_ network: String, now: Timestamp) -> Bool {
        state.withLock { state in
            guard let found = state.unknown[network] else { return false }
            return found <= now && now < found.adding(seconds: Self.unknownSeconds)
        }
    }

    /// Keeps for ten seconds that nobody has signed in from this network.
    package func noteUnknown(_ network: String, now: Timestamp) {
        state.withLock { state in
            if state.unknown.count >= Self.maximumKeys { state.unknown = [:] }
            state.unknown[network] = now
        }
    }

    /// Forgets that of a network: somebody signs in from there.
    package func noteKnown(_ network: String) {
        state.withLock { $0.unknown[network] = nil }
    }

    /// Whether the password of a try may be checked now; each true must be followed by `endCheck`.
    package func beginCheck(_ attempt: Try) -> Bool {
        guard !attempt.isFamiliar else { return true }
        return state.withLock { state in
            let isGuesser = state.failures(of: attempt.network) > Self.fewFailures
            guard state.checked < (isGuesser ? Self.maximumOfGuessers : Self.maximumChecked) else { return false }
            state.checked += 1
            return true
        }
    }

    /// The password of a try was checked.
    package func endCheck(_ attempt: Try) {
        guard !attempt.isFamiliar else { return }
        state.withLock { $0.checked -= 1 }
    }

    /// The password was right: the try was no failure.
    package func succeeded(_ attempt: Try) {
        state.withLock { state in
            if attempt.isFamiliar {
                state.accounts[attempt.accountKey] = nil
            } else {
                Self.uncount(attempt.accountKey, &state.accounts)
                if let network = attempt.network { Self.uncount(network, &state.networks) }
            }
        }
    }

    /// The try is over, whatever came of it.
    package func finished(_ attempt: Try) {
        guard !attempt.isFamiliar else { return }
        state.withLock { $0.waiting -= 1 }
    }

    /// How many seconds a network must wait; nil where it may try.
    private static func pause(of network: String, _ state: inout State, _ now: Timestamp) -> Int? {
        guard let count = state.networks[network], count.failures >= networkFailures, isCurrent(count, now) else {
            return nil
        }
        let rest = count.last.adding(seconds: networkPauseSeconds).milliseconds - now.milliseconds
        return rest > 0 ? Int((rest + 999) / 1000) : nil
    }

    @discardableResult
    private static func count<Key>(_ key: Key, _ counts: inout [Key: Count], _ now: Timestamp) -> Int {
        var count = counts[key] ?? Count(last: now)
        if !isCurrent(count, now) { count.failures = 0 }
        count.failures += 1
        count.last = now
        counts[key] = count
        return count.failures
    }

    private static func uncount<Key>(_ key: Key, _ counts: inout [Key: Count]) {
        guard var count = counts[key] else { return }
        count.failures -= 1
        counts[key] = count.failures > 0 ? count : nil
    }

    /// A count from the future is over: the clock was set back.
    private static func isCurrent(_ count: Count, _ now: Timestamp) -> Bool {
        count.last <= now && now < count.last.adding(seconds: windowSeconds)
    }

    /// Forgets what is over; where all is current, everything, for that only lets tries be made
    /// sooner.
    private static func makeRoom(_ state: inout State, _ now: Timestamp) {
        if state.accounts.count >= maximumKeys {
            state.accounts = state.accounts.filter { isCurrent($0.value, now) }
            if state.accounts.count >= maximumKeys { state.accounts = [:] }
        }
        if state.networks.count >= maximumKeys {
            state.networks = state.networks.filter { isCurrent($0.value, now) }
            if state.networks.count >= maximumKeys { state.networks = [:] }
        }
    }

    /// What is counted as one network: an IPv4 address, or the first 64 bits of an IPv6 address.
    package static func network(of address: String) -> String? {
        let text = address.lowercased()
        if text.utf8.count > 64 { return nil }
        guard text.contains(":") else { return text }
        if text.hasPrefix("::ffff:"), text.contains(".") { return String(text.dropFirst(7)) }
        let halves = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let gap = halves.dropFirst().dropLast().firstIndex(of: "") else {
            return halves.prefix(4).joined(separator: ":")
        }
        // What begins with `::` has two empty parts in front.
        let before = halves[..<gap].filter { !$0.isEmpty }
        let after = halves[gap...].filter { !$0.isEmpty }
        let zeros = [Substring](repeating: "0", count: max(0, 8 - before.count - after.count))
        return (before + zeros + after).prefix(4).joined(separator: ":")
    }
}
