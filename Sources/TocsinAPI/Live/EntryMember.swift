import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import TocsinCore

/// One subscriber to the timeline of an incident, who reads on from their own place.
///
/// What is committed only wakes them: entries come from the store, in their order and without a
/// gap, and each time it is asked whether they may still see the incident.
final class EntryMember: WokenMember {
    private struct State {
        /// The number of the last entry that was handed over.
        var last: Int64
        /// There may be entries that were not looked for.
        var isBehind = false
        /// What was there when the member joined has been handed over.
        var isCaughtUp = false
        var pump: Task<Void, Never>?
        var leave: (@Sendable () -> Void)?
        var hasEnded = false
    }

    /// What is subscribed to.
    struct Asked: Sendable {
        let incidentID: String
        let plan: ExecutionPlan
        let variables: JSONObject
        let isAppSync: Bool
    }

    /// Entries that are read, and handed over before others of the connection have their turn.
    private static let pageSize = 50
    let asked: Asked
    private let services: Services
    private let executor: ResponseExecutor
    private let identity: Mutex<Identity>
    private let sink: any ResponseSink
    private let state: Mutex<State>

    init(
        _ asked: Asked,
        after last: Int64,
        caller: Identity,
        _ services: Services,
        _ executor: ResponseExecutor,
        sink: any ResponseSink
    ) {
        (self.asked, self.services, self.executor, self.sink) = (asked, services, executor, sink)
        identity = Mutex(caller)
        state = Mutex(State(last: last))
    }

    var caller: Identity { identity.withLock { $0 } }

    func renew(_ caller: Identity) { identity.withLock { $0 = caller } }

    /// Says how to leave the feed.
    func attach(leave: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.hasEnded { state.leave = leave }
            return state.hasEnded
        }
        if isLate { leave() }
    }

    /// Lets the member look for further entries.
    func wake() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.isBehind = true
            if state.pump == nil { state.pump = Task { await self.run() } }
        }
    }

    /// Looks on, and ends when there is nothing further.
    private func run() async {
        while await sink.turn(handOver) {}
    }

    /// Hands over some entries; false when there is nothing to look for.
    private func handOver() async -> Bool {
        let (last, isNew) = state.withLock { state -> (Int64?, Bool) in
            guard !state.hasEnded, state.isBehind else {
                state.pump = nil
                let isNew = !state.hasEnded && !state.isCaughtUp
                state.isCaughtUp = true
                return (nil, isNew)
            }
            state.isBehind = false
            return (state.last, false)
        }
        if isNew { sink.caughtUp() }
        guard let last else { return false }
        let entries: [IncidentEntry]
        do throws(ServiceError) {
            entries = try await services.incidents.entriesSeen(
                of: asked.incidentID,
                after: last,
                limit: Self.pageSize,
                caller: caller
            )
        } catch {
            if case .unauthorized = error { end(Self.gone) } else { end(Self.unavailable) }
            return false
        }
        for entry in entries {
            let response = SharedResponse(body: await executor.execute(entry: entry, for: self, services))
            await sink.room(for: response)
            let isWanted = state.withLock { state in
                guard !state.hasEnded else { return false }
                state.last = entry.number
                return true
            }
            guard isWanted, !Task.isCancelled else { return false }
            sink.next(response)
        }
        if entries.count == Self.pageSize { state.withLock { $0.isBehind = true } }
        return true
    }

    /// Ends the member from the server's side.
    func end(_ reason: StreamEnd) {
        if finish() { sink.end(reason) }
    }

    /// Ends the member from the client's side.
    func cancel() { _ = finish() }

    private func finish() -> Bool {
        let old = state.withLock { state in
            let old = state
            state = State(last: old.last)
            state.hasEnded = true
            return old
        }
        old.pump?.cancel()
        old.leave?()
        return !old.hasEnded
    }

    /// Other subscriptions of the connection go on.
    private static let gone = StreamEnd.failed(.unauthorized, "You may not see this incident any more.")
    private static let unavailable = StreamEnd.failed(
        .unavailable,
        "The timeline cannot be read just now. Subscribe again with after: and the last number."
    )
}

extension StreamEnd {
    /// Ends one subscription with an error.
    static func failed(_ code: ErrorCode, _ sentence: String) -> StreamEnd {
        var writer = JSONWriter()
        writer.byte(UInt8(ascii: "["))
        StandardErrorEncoding.write(GraphQLError(code, sentence), to: &writer)
        writer.byte(UInt8(ascii: "]"))
        return .failed(errors: writer.bytes)
    }
}
