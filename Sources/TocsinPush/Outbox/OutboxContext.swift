import TocsinCore

/// What a reload may change of the outbox: who carries pushes, and what they show.
struct OutboxWays: Sendable {
    var providers: PushProviders
    var content: PushContent
}

/// What everything in the outbox rests on.
struct OutboxContext: Sendable {
    let environment: ServiceEnvironment
    var store: any Store { environment.store }
    var time: any TimeSource { environment.time }
    var identifiers: any IdentifierSource { environment.identifiers }
    /// Read once for each piece of work, for a reload may replace it.
    var providers: PushProviders { reloadable.value.providers }
    let reloadable: Reloadable<OutboxWays>
    let messages: ModelType
    let topics: ModelType
    /// Who may have a push.
    let rights: PushRights
    /// By whose rules people's quiet hours go.
    let zones: any ZoneSource
    var content: PushContent { reloadable.value.content }
    let settings: OutboxSettings
    let report: PushReporting
    /// The keyed hash by which reports name a token; nil: no report tells of a single delivery.
    let tokenHash: (@Sendable (_ token: String) -> String)?
    let metrics: PushMetrics
    let breakers: CircuitBreakers
    let inFlight: InFlightLimiter
    let quotas: ProjectQuotas
    let openResults: OpenResults
    let cancellations: Cancellations
    /// Tells the schedule when something that was written will be due.
    let noteDue: @Sendable (Timestamp) -> Void

    /// Reads, again and again while the store is unavailable and the lease holds;
    /// nil if it did not work out.
    func reading<Value: Sendable>(
        until lease: Timestamp,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async -> Value? {
        await insisting(until: lease) { () async throws(StoreError) in try await store.read(body) }
    }

    /// Writes, again and again while the store is unavailable and the lease holds;
    /// nil if it did not work out.
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
                guard case .unavailable = error, next < lease, !openResults.areAbandoned else {
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

/// Names the lanes of devices one after the other: neighbours are mostly of one app.
struct LaneNames {
    private let context: OutboxContext
    private var last: (key: Key, lane: PushLane?)?

    /// What devices of one lane have in common.
    private struct Key: Hashable {
        var service: PushService
        var platform: PushPlatform
        var appID: String
        var environment: PushEnvironment?
    }

    init(_ context: OutboxContext) {
        self.context = context
    }

    /// The lane of a device; nil when nothing can be sent to it.
    mutating func lane(of device: Device) -> PushLane? {
        let key = Key(
            service: PushService(reaching: device),
            platform: device.platform,
            appID: device.appID,
            environment: device.environment
        )
        if let last, last.key == key { return last.lane }
        let lane = context.providers.lane(of: device)
        last = (key, lane)
        return lane
    }
}
