import GraphQLTransport
import JSON
import Synchronization
import TocsinCore
import TocsinStore

/// What `/healthz` and `/readyz` answer; no secrets, as anybody may ask.
final class Health: HealthReporting, Sendable {
    private let store: SQLStore
    private let providers: @Sendable () -> [(name: String, isConfigured: Bool)]
    private let cluster: Cluster?
    private let isStopping = Atomic<Bool>(false)

    init(
        store: SQLStore,
        providers: @escaping @Sendable () -> [(name: String, isConfigured: Bool)],
        cluster: Cluster? = nil
    ) {
        self.store = store
        self.providers = providers
        self.cluster = cluster
    }

    /// From now on the server is not ready for new requests.
    func stop() { isStopping.store(true, ordering: .relaxed) }

    func live() -> HealthReport { report(.ok, ["status": "ok"]) }

    func ready() async -> HealthReport {
        if isStopping.load(ordering: .relaxed) { return report(.unavailable, ["status": "stopping"]) }
        var members: [(String, JSONValue)] = []
        var status = HealthReport.Status.ok
        do {
            let health = try await store.health()
            members = [
                ("database", .string(health.databaseVersion)), ("migration", .int(Int64(health.migration))),
            ]
            if let refusal = store.statistics.refusal { members.append(("writes", Self.value(of: refusal))) }
        } catch {
            status = .unavailable
            members = [("database", .string(error.description))]
            if let trouble = store.trouble { members.append(("connection", Self.value(of: trouble))) }
        }
        let states = providers().map { ($0.name, JSONValue.string($0.isConfigured ? "configured" : "not configured")) }
        members.append(("push", .object(JSONObject(states))))
        if let cluster { members.append(("node", .object(JSONObject(cluster.report)))) }
        let word: JSONValue = status == .ok ? "ok" : "unavailable"
        return report(status, .object(JSONObject([("status", word)] + members)))
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

    private func report(_ status: HealthReport.Status, _ body: JSONValue) -> HealthReport {
        HealthReport(status: status, body: body.serialized())
    }
}
