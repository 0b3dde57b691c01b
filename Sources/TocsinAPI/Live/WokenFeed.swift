import GraphQLTransport
import Metrics
import Synchronization
import TocsinCore

/// Those who follow what has a key, such as an incident's timeline by its id; costs nothing while
/// there are none.
final class WokenFeed<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var members: [Key: [ObjectIdentifier: WokenMember]] = [:]
        var isStopped = false
    }

    private let state = Mutex(State())
    private let isListened = Atomic(false)
    private let groups: Gauge

    /// A feed that counts its members among the groups of subscribers.
    init(groups: Gauge) { self.groups = groups }

    /// Whether anybody follows anything here.
    var isAnybodyHere: Bool { isListened.load(ordering: .acquiring) }

    /// Registers a subscriber, who hears of no earlier wake; false when the server is stopping.
    func join(_ member: WokenMember, to key: Key) -> Bool {
        let hasJoined = state.withLock { state in
            guard !state.isStopped else { return false }
            state.members[key, default: [:]][ObjectIdentifier(member)] = member
            isListened.store(true, ordering: .releasing)
            return true
        }
        guard hasJoined else { return false }
        groups.add(1)
        member.attach { [weak self, unowned member] in self?.leave(member, key) }
        return true
    }

    private func leave(_ member: WokenMember, _ key: Key) {
        let hasLeft = state.withLock { state in
            guard state.members[key]?.removeValue(forKey: ObjectIdentifier(member)) != nil else { return false }
            if state.members[key]?.isEmpty == true { state.members[key] = nil }
            if state.members.isEmpty { isListened.store(false, ordering: .releasing) }
            return true
        }
        if hasLeft { groups.add(-1) }
    }

    /// Lets those who follow this look.
    func wake(_ key: Key) {
        guard isAnybodyHere else { return }
        for member in state.withLock({ Array(($0.members[key] ?? [:]).values) }) { member.wake() }
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

    private var everybody: [WokenMember] { state.withLock { $0.members.values.flatMap { Array($0.values) } } }
}
