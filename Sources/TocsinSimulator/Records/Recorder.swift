import JSON
import Synchronization

/// Keeps and counts what the fake providers saw, and what the phones show of it.
final class Recorder: Sendable {
    private struct State {
        var counts: [SimulatedProvider: ProviderCounts] = [:]
        var records: [PushRecord] = []
        var sequence = 0
        var connections = 0
        var screens: Screens
    }

    private let state: Mutex<State>
    private let settings: SimulatorSettings
    /// Ids need be new, not secret; the system's numbers cost more than all of an answer's rest.
    private let numbers = Mutex(SeededNumbers(seed: .random(in: .min ... .max)))

    init(settings: SimulatorSettings) {
        self.settings = settings
        state = Mutex(State(screens: Screens(maximumPhones: settings.maximumPhones)))
    }

    func makeConnection() -> WireConnection {
        state.withLock { state in
            state.connections += 1
            return WireConnection(id: state.connections)
        }
    }

    /// A new id, in the form of a UUID.
    func makeID() -> String { numbers.withLock { LowercaseUUID.random(&$0) } }

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

    func acceptedUnread(_ provider: SimulatedProvider) {
        state.withLock { state in
            state.counts[provider, default: ProviderCounts()].requests += 1
            state.counts[provider, default: ProviderCounts()].accepted += 1
        }
    }

    /// Keeps a push; what a phone gets of it, if it was accepted, is its `arrival`.
    func add(_ record: PushRecord, _ arrival: Arrival?) {
        var record = record
        record.timeMilliseconds = settings.nowMilliseconds()
        state.withLock { state in
            state.sequence += 1
            record.sequence = state.sequence
            state.counts[record.provider, default: ProviderCounts()].count(record)
            if record.isAccepted, let arrival {
                state.screens.receive(arrival, at: record.token, now: record.timeMilliseconds)
            }
            guard settings.maximumRecords > 0 else { return }
            // A quarter at a time, so that the array does not move for each push.
            if state.records.count >= settings.maximumRecords {
                state.records.removeFirst(max(1, settings.maximumRecords / 4))
            }
            state.records.append(record)
        }
        settings.noticed?()
    }

    /// Forgets pushes, counts and screens; open connections stay counted.
    func reset() {
        state.withLock { state in
            for (provider, counts) in state.counts {
                var fresh = ProviderCounts()
                fresh.connections = counts.connectionsOpen
                fresh.connectionsOpen = counts.connectionsOpen
                state.counts[provider] = fresh
            }
            state.records = []
            state.screens = Screens(maximumPhones: settings.maximumPhones)
        }
    }

    /// The kept pushes after the given sequence number, the oldest first.
    func pushes(since sequence: Int, limit: Int = .max) -> [PushRecord] {
        state.withLock { state in
            guard let first = state.records.first?.sequence else { return [] }
            return Array(state.records.dropFirst(max(0, sequence + 1 - first)).prefix(limit))
        }
    }

    func counts(_ provider: SimulatedProvider) -> ProviderCounts {
        state.withLock { $0.counts[provider, default: ProviderCounts()] }
    }

    var lastSequence: Int { state.withLock { $0.sequence } }

    /// What one phone shows.
    func screen(of token: String) -> JSONValue? {
        let now = settings.nowMilliseconds()
        return state.withLock { $0.screens.screen(token, now: now) }
    }

    /// What all phones show, in numbers.
    var screens: JSONValue { state.withLock { $0.screens.json } }

    /// Takes a phone off the net, or brings it back.
    func setOnline(_ online: Bool, token: String) {
        let now = settings.nowMilliseconds()
        state.withLock { $0.screens.setOnline(online, token: token, now: now) }
    }
}
