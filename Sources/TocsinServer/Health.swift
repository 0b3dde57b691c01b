import GraphQLTransport
import JSON
import Synchronization
import TocsinCore
import TocsinStore

/// What `/livez` and `/readyz` answer; no secrets, as anybody may ask.
final class Health: HealthReporting, Sendable {
    let stalls: StallWatch
    private let store: SQLStore
    private let providers: @Sendable () -> [(name: String, isConfigured: Bool)]
    private let cluster: Cluster?
    private let stopping = Atomic<Bool>(false)

    init(
        store: SQLStore,
        providers: @escaping @Sendable () -> [(name: String, isConfigured: Bool)],
        cluster: Cluster? = nil,
        stalls: StallWatch
    ) {
        self.store = store
        self.providers = providers
        self.cluster = cluster
        self.stalls = stalls
    }

    /// From now on the server is not ready for new requests.
    func stop() { stopping.store(true, ordering: .relaxed) }

    /// Whether it has been told to stop.
    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// What `/livez` says.
    var isLive: Bool { live().status == .ok }

    func live() -> HealthReport { Self.liveness(stalls) }

    /// Whether the process works: never asks the database, for a restart brings none back.
    static func liveness(_ stalls: StallWatch) -> HealthReport {
        let stalled = stalls.stalled
        guard !stalled.isEmpty else { return report(true, ["status": "ok"]) }
        return report(false, ["status": "stalled", "stalled": .array(stalled.map { .string($0) })])
    }

    func ready() async -> HealthReport {
        let readiness = await readiness()
        return Self.report(readiness.isReady, readiness.members)
    }

    /// Whether requests can be served now, with details that are no reasons.
    func readiness() async -> (isReady: Bool, members: JSONObject) {
        if isStopping { return (false, ["status": "stopping"]) }
        var members: [(String, JSONValue)] = []
        var isReady = true
        do {
            let health = try await store.health()
            members = [
                ("database", .string(health.databaseVersion)), ("migration", .int(Int64(health.migration))),
            ]
            if let refusal = store.statistics.refusal { members.append(("writes", Self.value(of: refusal))) }
        } catch {
            isReady = false
            members = [("database", .string(error.description))]
            if let trouble = store.trouble { members.append(("connection", Self.value(of: trouble))) }
        }
        let states = providers().map { ($0.name, JSONValue.string($0.isConfigured ? "configured" : "not configured")) }
        members.append(("push", .object(JSONObject(states))))
        if let cluster { members.append(("node", .object(JSONObject(cluster.report)))) }
        return (isReady, JSONObject([("status", isReady ? "ok" : "unavailable")] + members))
    }

    /// What is being done about a database that cannot be reached.
    private static func value(of trouble: ConnectionTrouble) -> JSONValue {
        [
            "reason": .string(trouble.reason), "awayMilliseconds": .int(Int64(trouble.awayMilliseconds)),
            "failedAttempts": .int(Int64(trouble.attempts)),
            "retryInMilliseconds": .int(Int64(trouble.retryMilliseconds)),
        ]
    }

    /// Reading goes on: a node that cannot write stays ready.
    private static func value(of refusal: StoreStatistics.Refusal) -> JSONValue {
        let time = refusal.since.duration(to: .now)
        return ["refused": .string(refusal.reason), "forMilliseconds": .int(Int64(time / .milliseconds(1)))]
    }

    private static func report(_ isOK: Bool, _ members: JSONObject) -> HealthReport {
        HealthReport(status: isOK ? .ok : .unavailable, body: JSONValue.object(members).serialized())
    }
}
