import HTTPTypes
import JSON
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinPush
import TocsinStore

/// `GET /admin/state`: what the node has in hand now.
struct StateRoute: AdminRoute {
    let method = HTTPRequest.Method.get
    let path = "/admin/state"
    let access = AdminAccess.operators
    let admin: AdminPart
    let process: ProcessPart
    let store: StorePart
    let push: PushPart
    let api: APIPart
    let front: FrontPart
    let cluster: Cluster?

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        var state = admin.node.report
        let phase = front.health.isStopping ? "stopping" : admin.progress.isStarted ? "running" : "starting"
        state["phase"] = .string(phase)
        state["stalled"] = .array(admin.stalls.stalled.map { .string($0) })
        state["connections"] = [
            "open": .int(Int64(front.server.connectionCount)),
            "limit": .int(Int64(process.settings.limits.connections)),
        ]
        state["sockets"] = .int(Int64(front.server.socketCount))
        state["subscriptions"] = .int(Int64(front.server.subscriptionCount))
        state["liveGroups"] = .int(Int64(api.feed.groupCount))
        state["store"] = storeState
        state["push"] = pushState
        if let cluster { state["cluster"] = await clusterState(cluster) }
        return AdminAnswer.json(.object(state))
    }

    private var storeState: JSONValue {
        let statistics = store.store.statistics
        var state: JSONObject = [
            "commits": .int(Int64(statistics.commits)), "committedWrites": .int(Int64(statistics.committedWrites)),
            "failedGroups": .int(Int64(statistics.failedGroups)),
            "waitingWrites": .int(Int64(statistics.waitingWrites)),
            "waitingReads": .int(Int64(statistics.waitingReads)),
        ]
        if let refusal = statistics.refusal { state["refusing"] = .string(refusal.reason) }
        if let trouble = store.store.trouble { state["trouble"] = .string(trouble.reason) }
        if case .sqlite(let path) = process.settings.server.databaseAddress {
            state["databaseBytes"] = .int(Int64(SystemFile.size(of: path) ?? 0))
            state["logBytes"] = .int(Int64(SystemFile.size(of: path + "-wal") ?? 0))
        }
        return .object(state)
    }

    private var pushState: JSONValue {
        let underWay = push.outbox.underWay
        let paused = push.outbox.pausedLanes.sorted { ($0.lane.appID, $0.until) < ($1.lane.appID, $1.until) }
        return [
            "providers": .object(JSONObject(push.configured.map { ($0.name, .bool($0.isConfigured)) })),
            "underWay": .object(
                JSONObject(
                    push.configured.map { name, _ in
                        (name, .int(Int64(underWay.first { $0.key.rawValue == name }?.value ?? 0)))
                    }
                )
            ),
            "inFlightLimit": .int(Int64(process.settings.push.inFlight)),
            // Browsers name their push services: the first ones are enough to see what is wrong.
            "pausedLanes": .array(
                paused.prefix(100).map { lane in
                    [
                        "provider": .string(lane.lane.service.rawValue), "app": .string(lane.lane.appID),
                        "reason": .string(lane.reason), "until": .string(lane.until.iso8601),
                    ]
                }
            ),
        ]
    }

    /// What the node says of itself, and its peers and duties by the database, if that answers.
    private func clusterState(_ cluster: Cluster) async -> JSONValue {
        var state = JSONObject(cluster.report)
        let (now, instance) = (process.time.now(), process.node?.instance ?? "")
        let since = now.adding(seconds: -NodeEntry.lifeSeconds)
        do throws(StoreError) {
            let (nodes, duties) = try await store.store.read { reader throws(StoreError) in
                (try reader.nodes(seenSince: since), try reader.duties(of: instance, at: now))
            }
            state["peers"] = .array(
                nodes.filter { $0.instance != instance }.map { node in
                    ["name": .string(node.name), "seenAt": .string(node.seenAt.iso8601)]
                }
            )
            state["duties"] = .array(duties.map { .string($0) })
        } catch {
            (state["peers"], state["duties"]) = (.null, .null)
        }
        return .object(state)
    }
}
