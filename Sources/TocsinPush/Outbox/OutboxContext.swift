import Synchronization
import TocsinCore

/// What everything in the outbox rests on.
struct OutboxContext: Sendable {
    let store: any Store
    let providers: PushProviders
    let messages: ModelType
    let topics: ModelType
    /// Who may have a push.
    let rights: PushRights
    let content: PushContent
    let time: any TimeSource
    let identifiers: any IdentifierSource
    let settings: OutboxSettings
    let report: PushReporting
    let gates: CircuitBreakers
    let control: InFlightLimiter
    let quotas: ProjectQuotas
    let boards: BoardList
    let withdrawals: Cancellations
    /// Tells the schedule when something that was written will be due.
    let noteDue: @Sendable (Timestamp) -> Void

    /// Reads, again and again while the store is unavailable and the lease holds; nil if it did not work out.
    func reading<Value: Sendable>(
        until lease: Timestamp,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async -> Value? {
        await insisting(until: lease) { () async throws(StoreError) in try await store.read(body) }
    }

    /// Writes, again and again while the store is unavailable and the lease holds; nil if it did not work out.
    func writing<Value: Sendable>(
        until lease: Timestamp,
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Value
    ) async -> Value? {
        await insisting(until: lease) { () async throws(StoreError) in try await store.write(body) }
    }

    private func insisting<Value: Sendable>(
        until lease: Timestamp,
        _ attempt: () async throws(StoreError) -> Value
    ) async -> Value? {
        var pause = 0.1
        while true {
            do throws(StoreError) {
                return try await attempt()
            } catch {
                let next = time.now().adding(seconds: pause)
                guard case .unavailable = error, next < lease, !boards.areAbandoned else {
                    if error != .stopped { report(.storeFailed(error)) }
                    return nil
                }
                do {
                    try await time.sleep(until: next)
                } catch {
                    return nil
                }
                pause = min(2, pause * 2)
            }
        }
    }
}

/// The boards of flights under way, to abandon them all when the server stops.
final class BoardList: Sendable {
    private struct State {
        var boards: [ObjectIdentifier: SendResults] = [:]
        var areAbandoned = false
    }

    private let state = Mutex(State())

    var areAbandoned: Bool { state.withLock { $0.areAbandoned } }

    func add(_ board: SendResults) {
        let isLate = state.withLock { state in
            state.boards[ObjectIdentifier(board)] = board
            return state.areAbandoned
        }
        if isLate { board.abandon() }
    }

    func remove(_ board: SendResults) {
        state.withLock { $0.boards[ObjectIdentifier(board)] = nil }
    }

    func abandonAll() {
        let boards = state.withLock { state in
            state.areAbandoned = true
            return Array(state.boards.values)
        }
        for board in boards { board.abandon() }
    }
}

/// Names the lanes of devices one after the other: neighbours are mostly of one app.
struct LaneNames {
    private let context: OutboxContext
    private var last: (platform: PushPlatform, appID: String, environment: PushEnvironment?, lane: PushLane?)?

    init(_ context: OutboxContext) {
        self.context = context
    }

    /// The lane of a device; nil when nothing can be sent to it.
    mutating func lane(of device: Device) -> PushLane? {
        if let last, last.platform == device.platform, last.environment == device.environment,
            last.appID == device.appID
        {
            return last.lane
        }
        let lane = context.providers.lane(of: device)
        last = (device.platform, device.appID, device.environment, lane)
        return lane
    }
}
