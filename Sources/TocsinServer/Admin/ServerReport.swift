import JSON
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinPush
import TocsinStore

/// What administrators see of the node that answers them.
struct ServerReport: ServerReporting {
    let node: NodeFacts
    let process: ProcessPart
    let store: StorePart
    let push: PushPart
    let front: FrontPart
    let cluster: Cluster?
    /// Where the settings of the start came from.
    let origins: [SettingOrigin]
    let reloader: Reloader
    /// nil where nothing is measured.
    let ring: SeriesRing?

    func state() async -> JSONObject {
        let (isReady, members) = await front.health.readiness()
        return [
            "node": .string(node.name), "version": .string(BuildInfo.version), "commit": .string(BuildInfo.commit),
            "startedAt": .string(node.startedAt.iso8601), "ready": .bool(isReady),
            "database": members["database"] ?? .string("the server is stopping"),
            "connections": .int(Int64(front.server.connectionCount)),
            "sockets": .int(Int64(front.server.socketCount)),
            "subscriptions": .int(Int64(front.server.subscriptionCount)),
            "providers": .array(providers), "peers": await peers, "settings": .array(settings),
        ]
    }

    private var providers: [JSONValue] {
        let (underWay, paused) = (push.outbox.underWay, push.outbox.pausedLanes)
        return push.configured.map { name, isConfigured in
            let lanes = paused.filter { $0.lane.service.rawValue == name }
                .sorted { ($0.lane.appID, $0.until) < ($1.lane.appID, $1.until) }
            return [
                "name": .string(name), "configured": .bool(isConfigured),
                "underWay": .int(Int64(underWay.first { $0.key.rawValue == name }?.value ?? 0)),
                "pauses": .array(
                    lanes.prefix(100).map { lane in
                        [
                            "app": .string(lane.lane.appID), "reason": .string(lane.reason),
                            "until": .string(lane.until.iso8601),
                        ]
                    }
                ),
            ]
        }
    }

    private var peers: JSONValue {
        get async {
            guard cluster != nil else { return .null }
            let (since, own) = (process.time.now().adding(seconds: -NodeEntry.lifeSeconds), process.node?.instance)
            do throws(StoreError) {
                let nodes = try await store.store.read { reader throws(StoreError) in
                    try reader.nodes(seenSince: since)
                }
                return .array(
                    nodes.filter { $0.instance != own }.map { node in
                        ["node": .string(node.name), "seenAt": .string(node.seenAt.iso8601)]
                    }
                )
            } catch {
                return .null
            }
        }
    }

    private var settings: [JSONValue] {
        guard case .object(let report) = SettingsReport.json(origins, of: reloader) else { return [] }
        return report.map { member in
            let setting = member.value
            return [
                "name": .string(member.key), "value": setting["value"] ?? .null, "origin": setting["origin"] ?? "",
                "reloads": setting["reloads"] ?? .bool(false),
                "pendingRestart": setting["pendingRestart"] ?? .bool(false),
            ]
        }
    }

    func series(_ names: [String], since: Timestamp, step: Int) throws(ServiceError) -> [JSONObject]? {
        try ring?.series(names, since: since, step: step).map { series in
            [
                "name": .string(series.name), "labels": .string(series.labels),
                "since": .string(series.since.iso8601), "step": .int(Int64(series.step)),
                "points": .array(series.points.map { $0.isNaN ? .null : .double($0) }),
            ]
        }
    }
}
