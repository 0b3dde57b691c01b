import GraphQLTransport
import Metrics
import Synchronization
import TocsinCore

/// Those who follow how far they have read themselves; costs nothing while there are none.
final class ReadStateFeed: Sendable {
    private struct State {
        var members: [UserID: [ObjectIdentifier: ReadStateMember]] = [:]
        var isStopped = false
    }

    private let state = Mutex(State())
    private let isListened = Atomic(false)
    private let groups: Gauge

    /// A feed that counts its members among the groups of subscribers.
    init(groups: Gauge) { self.groups = groups }

    /// Whether anybody follows what they have read here.
    var isAnybodyHere: Bool { isListened.load(ordering: .acquiring) }

    /// Registers a subscriber, who hears of no earlier wake; false when the server is stopping.
    func join(_ member: ReadStateMember) -> Bool {
        let user = member.caller.userID
        let hasJoined = state.withLock { state in
            guard !state.isStopped else { return false }
            state.members[user, default: [:]][ObjectIdentifier(member)] = member
            isListened.store(true, ordering: .releasing)
            return true
        }
        guard hasJoined else { return false }
        groups.add(1)
        member.attach { [weak self, unowned member] in self?.leave(member, user) }
        return true
    }

    private func leave(_ member: ReadStateMember, _ user: UserID) {
        let hasLeft = state.withLock { state in
            guard state.members[user]?.removeValue(forKey: ObjectIdentifier(member)) != nil else { return false }
            if state.members[user]?.isEmpty == true { state.members[user] = nil }
            if state.members.isEmpty { isListened.store(false, ordering: .releasing) }
            return true
        }
        if hasLeft { groups.add(-1) }
    }

    /// Lets those who are this user look again.
    func wake(_ user: UserID) {
        guard isAnybodyHere else { return }
        for member in state.withLock({ Array(($0.members[user] ?? [:]).values) }) { member.wake() }
    }

    /// Lets all look: something may have been missed.
    func wakeAll() { for member in everybody { member.wake() } }

    /// Ends the subscriptions of callers who may listen no longer.
    func end(_ reason: StreamEnd, where isAffected: (Identity) -> Bool) {
        for member in everybody where isAffected(member.caller) { member.end(reason) }
    }

    /// Ends every subscription and takes no new ones.
    func stop() {
        state.withLock { $0.isStopped = true }
        end(.shuttingDown) { _ in true }
    }

    private var everybody: [ReadStateMember] { state.withLock { $0.members.values.flatMap { Array($0.values) } } }
}
