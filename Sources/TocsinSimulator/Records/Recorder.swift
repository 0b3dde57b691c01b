import JSON
import Synchronization

/// Keeps and counts what the fake providers saw.
final class Recorder: Sendable {
    private struct State {
        var counts: [SimulatedProvider: ProviderCounts] = [:]
        var records: [PushRecord] = []
        var sequence = 0
        var connections = 0
        var outages: [SimulatedProvider: Outage] = [:]
        /// FCM's quota: the minute it counts, and the messages in it.
        var quotaMinute: Int64 = 0
        var quotaUsed = 0
        /// How often each scripted token has met its script.
        var scriptUses: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let settings: SimulatorSettings

    /// Scripted tokens remembered.
    private static let maximumScriptUses = 1_000_000

    init(settings: SimulatorSettings) {
        self.settings = settings
    }

    func makeConnection() -> WireConnection {
        state.withLock { state in
            state.connections += 1
            return WireConnection(id: state.connections)
        }
    }

    /// Counts the connection among the provider's, once.
    func count(_ connection: inout WireConnection, _ provider: SimulatedProvider) {
        guard !connection.isCounted else { return }
        connection.isCounted = true
        state.withLock { state in
            state.counts[provider, default: ProviderCounts()].connections += 1
            state.counts[provider, default: ProviderCounts()].connectionsOpen += 1
        }
    }

    func connectionClosed(_ connection: WireConnection, _ provider: SimulatedProvider) {
        guard connection.isCounted else { return }
        state.withLock { $0.counts[provider, default: ProviderCounts()].connectionsOpen -= 1 }
    }

    func streamsOpen(_ count: Int, _ provider: SimulatedProvider) {
        state.withLock { state in
            let peak = state.counts[provider, default: ProviderCounts()].streamsPeak
            state.counts[provider, default: ProviderCounts()].streamsPeak = max(peak, count)
        }
    }

    /// The script a token meets this time, if any.
    func effect(for token: String, of provider: SimulatedProvider) -> ScriptEffect? {
        if let outage = outage(of: provider) { return outage.effect(provider) }
        guard let rule = ScriptRule.rule(for: token, of: provider) else { return nil }
        guard let times = rule.times(for: token) else { return rule.effect }
        return state.withLock { state in
            if state.scriptUses.count >= Self.maximumScriptUses { state.scriptUses.removeAll() }
            let uses = state.scriptUses[token, default: 0]
            state.scriptUses[token] = uses + 1
            return uses < times ? rule.effect : nil
        }
    }

    /// Takes one message from FCM's quota of this minute; `false` when it is used up.
    func takeQuota() -> Bool {
        guard let limit = settings.fcmMessagesPerMinute else { return true }
        let minute = settings.nowMilliseconds() / 60_000
        return state.withLock { state in
            if state.quotaMinute != minute {
                state.quotaMinute = minute
                state.quotaUsed = 0
            }
            guard state.quotaUsed < limit else { return false }
            state.quotaUsed += 1
            return true
        }
    }

    func outage(of provider: SimulatedProvider) -> Outage? {
        state.withLock { $0.outages[provider] }
    }

    func setOutage(_ outage: Outage?, of provider: SimulatedProvider) {
        state.withLock { $0.outages[provider] = outage }
    }

    func acceptedUnread(_ provider: SimulatedProvider) {
        state.withLock { state in
            state.counts[provider, default: ProviderCounts()].requests += 1
            state.counts[provider, default: ProviderCounts()].accepted += 1
        }
    }

    func add(_ record: PushRecord) {
        var record = record
        record.timeMilliseconds = settings.nowMilliseconds()
        state.withLock { state in
            state.sequence += 1
            record.sequence = state.sequence
            state.counts[record.provider, default: ProviderCounts()].count(record)
            // A quarter at a time, so that the array does not move for each push.
            if state.records.count >= settings.maximumRecords {
                state.records.removeFirst(max(1, settings.maximumRecords / 4))
            }
            state.records.append(record)
        }
        settings.printer?(record.line)
    }

    /// Forgets pushes, counts, script uses and outages; open connections stay counted.
    func reset() {
        state.withLock { state in
            for (provider, counts) in state.counts {
                var fresh = ProviderCounts()
                fresh.connections = counts.connectionsOpen
                fresh.connectionsOpen = counts.connectionsOpen
                state.counts[provider] = fresh
            }
            state.records = []
            state.outages = [:]
            state.scriptUses = [:]
        }
    }

    /// The kept pushes after the given sequence number.
    func pushes(since sequence: Int) -> [PushRecord] {
        state.withLock { state in
            guard let first = state.records.first?.sequence else { return [] }
            return Array(state.records.dropFirst(max(0, sequence + 1 - first)))
        }
    }

    func counts(_ provider: SimulatedProvider) -> ProviderCounts {
        state.withLock { $0.counts[provider, default: ProviderCounts()] }
    }

    var lastSequence: Int { state.withLock { $0.sequence } }
}
